#!/usr/bin/env python3
"""Tests that every check finds its faults, and none in a tree without faults."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import comment_rules
import compiler_rules
import include_rules
import lint
import word_rules

ROOT = pathlib.Path(__file__).resolve().parents[2]

GOOD = {
    "lapse/core/a.hpp": "#pragma once\n\n#include <vector>\n\nstd::vector<int> a();\n",
    "lapse/store/b.hpp": "#pragma once\n\nclass B {};\n",
    "lapse/core/process/e.hpp": "#pragma once\n",
    "lapse/store/memory/b.cpp": "void b();\n",
    "lapse/ps/b.hpp": "#pragma once\n\nclass B;\n",
    "lapse/store/b.cpp": '#include <mutex>\n\n#include "lapse/core/a.hpp"\n',
    "lapse/transport/mpi/c.cpp": "#include <mpi.h>\n",
    "lapse/transport/c.hpp": "#pragma once\n",
    "test/support/catch.hpp": "#pragma once\n",
    "apps/d.cpp": '#include <mpi.h>\n\n#include "lapse/core/a.hpp"\n\nvoid d() {\n  std::puts("d");\n}\n',
    "lapse/core/log.cpp": "void log() {\n  std::fputs(text, stderr);\n}\n",
    "lapse/core/text.cpp": "int n = std::snprintf(a, 1, b);  // Nothing goes to stderr.\n",
    "lapse/ps/f.cpp": '#include "lapse/ps/f.hpp"\n\nvoid F::add() {\n  const lapse::MutexLock guard(mutex_);\n  grow();\n}\n',
    "lapse/ps/f.hpp": """#pragma once

#include "lapse/core/lock_role.hpp"
#include "lapse/core/mutex.hpp"

inline constexpr lapse::LockRole role;

class F {
 public:
  void add() LAPSE_EXCLUDES(mutex_);
  void send() LAPSE_REQUIRES(role);

 private:
  void grow() LAPSE_REQUIRES(mutex_) { ++size_; }

  lapse::Mutex mutex_;
  int size_ LAPSE_GUARDED_BY(mutex_) = 0;
};
""",
    "lapse/ps/parameter_server.hpp": "#pragma once\n",
    "cmake/package/public_headers.txt": "lapse/core/exported.hpp\n",
    # Declarations that need no mark: visible ones, definitions, and what is no function.
    "lapse/core/exported.hpp": """#pragma once

#include <functional>

#define LAPSE_EXPORT

namespace lapse {

class Inner;

struct Plain {
  std::function<int(int)> f = {};
  int twice(int n) const { return 2 * n; }
};

class LAPSE_EXPORT Shown {
 public:
  explicit Shown(int n);
};

template <class T>
class Pattern {
  void run();
};

LAPSE_EXPORT std::function<int(int, int)> shown_with_a_long_name(const Shown& first, const Shown& second,
                                                                 const Shown& third);

inline int local(int n) {
  return n;
}

}  // namespace lapse
""",
    "lapse/transport/mpi/environment.hpp": "#pragma once\n",
    **{f"lapse/many/{i}.hpp": "#pragma once\n" for i in range(include_rules.MAX_PUBLIC_HEADERS)},
    "README.md": "[a](lapse/core/a.hpp) [web](https://example.org) [here](#words)\n```\n[no](link)\n```\n",
    "docs/e.md": "[up](../README.md#words)\n",
    # Text that the rules for documents ignore.
    "docs/f.md": f"""# A title. With two sentences

One sentence, e.g. this one by A. Turing et al., says one thing:
a sentence may have several lines, if each is a thought (or more);
**Why.** A lead-in stays on its line.
- An item. [link](e.md);
  its second line, with `code. Code under way`.

| a table. May be long, {"x" * 120} | under_way |
|---|---|

https://example.org/{"x" * 120}

    indented code, twin. {"x" * 120}
    More

<!-- a comment
twin. Twin
-->
```sh
echo "twin. Twin" {"x" * 120}
```
""",
    "lapse/io/comments.cpp": f"""// {"x" * 100}
// two words.
// then a sentence that begins in lower case after a full stop
// {"x" * 40}
// short
// continues, but the line before was broken by hand
int in_flight();
""",
    # Text that resembles a phrase, and phrases in names and messages.
    "lapse/io/phrases.cpp": """// A change that has come from a worker goes on the bulk lane. There are not so many keys. It sends so many
// messages that they collide. As long as it waits, and as no message arrives, it is right, but MPI differs.
const char* kGoesOn = "what has come goes on";
""",
}
GOOD["CMakeLists.txt"] = "".join(f"{path}\n" for path in GOOD if path.endswith((".cpp", ".c", ".f90")))

# Check -> faults: a file, its text, what the problem must mention, and where it is reported if not in that file.
BAD = {
    "arrows": [
        ("lapse/core/bad.cpp", '#include "lapse/store/b.hpp"\n', "lapse/core must not include"),
        ("lapse/core/bad.cpp", '#include "lapse/core/none.hpp"\n', "does not exist"),
        ("lapse/store/bad.cpp", '#include "b.hpp"\n', "is no full path"),
        ("lapse/store/bad.cpp", "#include <lapse/core/a.hpp>\n", "belongs to the project"),
        ("lapse/fortran/bad.F90", '#include "lapse/core/a.hpp"\n', "lapse/fortran must not include"),
        ("lapse/io/bad.cpp", '#  include "lapse/transport/c.hpp"\n', "lapse/io must not include"),
        ("lapse/ps/bad.cpp", '#include "test/support/catch.hpp"\n', "lapse/ps must not include"),
        ("lapse/new/bad.cpp", '#include "lapse/core/a.hpp"\n', "lies in no folder"),
        ("lapse/store/memory/bad.cpp", '#include "lapse/store/b.hpp"\n', "memory must not include"),
        ("lapse/core/bad.hpp", '#pragma once\n#include "lapse/core/process/e.hpp"\n', "headers must not include"),
        ("lapse/store/attic/bad.cpp", '#include "lapse/store/b.hpp"\n', '"attic" is no room of lapse/store'),
    ],
    "declarations": [
        ("lapse/store/memory/bad.hpp", "#pragma once\nclass B;\n", "declares B of lapse/store/b.hpp"),
        ("lapse/transport/bad.hpp", "#pragma once\nclass B;\n", "declares B of lapse/store/b.hpp"),
    ],
    "mpi": [
        ("lapse/core/bad.hpp", "#include <mpi.h>\n", "includes <mpi.h>"),
        ("lapse/ps/bad.cpp", '#include "mpi.h"\n', "includes <mpi.h>"),
        ("lapse/transport/bad.cpp", "#include <mpi.h>\n", "includes <mpi.h>"),
        ("lapse/io/bad.cpp", "#include <mpi.h>\n", "includes <mpi.h>"),
    ],
    "public_headers": [
        ("lapse/ps/parameter_server.hpp", '#include "lapse/transport/c.hpp"\n', "sees this inner header", "lapse/transport/c.hpp"),
        ("lapse/ps/parameter_server.hpp", "\n" * (include_rules.MAX_PUBLIC_LINES + 1), "lines of the project: at most"),
        ("lapse/ps/parameter_server.hpp", "".join(f'#include "lapse/many/{i}.hpp"\n' for i in range(include_rules.MAX_PUBLIC_HEADERS)),
         "headers of the project: at most"),
    ],
    "exports": [
        ("cmake/package/public_headers.txt", "lapse/core/exported.hpp\nlapse/core/none.hpp\n", "none.hpp does not exist"),
        ("lapse/core/exported.hpp", "#include <fmt/format.h>\n", "users need not have it"),
        ("lapse/core/exported.hpp", '#include "lapse/transport/c.hpp"\n', "is an inner header", "lapse/transport/c.hpp"),
        ("lapse/core/exported.hpp", "std::vector<int> all(int n);\n", "needs LAPSE_EXPORT"),
        ("lapse/core/exported.hpp", "class A {\n public:\n  int size() const;\n};\n", "class A { declares int size() const;"),
    ],
    "file_length": [("lapse/io/bad.cpp", "\n" * 351, "has 351 lines"), ("lapse/io/bad.f90", "\n" * 352, "has 352 lines")],
    "sources": [("lapse/io/bad.cpp", "", "no CMake list names it"), ("test/unit/bad.f90", "", "no CMake list names it")],
    "unfinished": [
        ("lapse/io/bad.cpp", "// TO" + "DO: later\n", "finish it"),
        ("docs/bad.md", "FIX" + "ME\n", "finish it"),
    ],
    "sleeps": [
        ("test/unit/bad.cpp", "std::this_thread::sleep_" + "for(1ms);\n", "wait for a condition"),
        ("lapse/ps/bad.hpp", "u" + "sleep(5);\n", "wait for a condition"),
    ],
    "threads": [
        ("lapse/fortran/a.f90", "function f() result(t)\n  character(:), allocatable :: t\nend function f\n", "f: a result"),
        ("lapse/ps/bad.cpp", "thread_ = std::thread([this] { run(); });\n", "start_library_thread"),
        ("adapm/bad.cpp", "std::jthread cleaner{f};\n", "start_library_thread"),
        ("apps/common/bad.cpp", "threads_.emplace_back(&A::run, this);\n", "start_library_thread"),
        ("lapse/io/bad.hpp", "      thread_([this] { run(); }) {}\n", "start_library_thread"),
    ],
    "output": [
        ("lapse/ps/bad.cpp", 'std::fprintf(file, "text");\n', "use the logger"),
        ("lapse/core/bad.hpp", "std::cerr << 1;\n", "use the logger"),
        ("lapse/transport/mpi/bad.cpp", "write(STDERR_FILENO, text, 4);\n", "use the logger"),
    ],
    "links": [
        ("docs/bad.md", "[there](nowhere.md)\n", "nowhere.md"),
        ("README.md", "text\n[a](lapse/core/a.hpp), [b](docs/none.md#part)\n", "docs/none.md"),
    ],
    "markdown": [
        ("docs/bad.md", "x" * 121 + "\n", "a line of 121 columns"),
        ("apps/data/some/README.md", "- item " + "x " * 57 + "\n", "a line of 121 columns"),
        ("examples/README.md", "Two sentences. On one line.\n", "a sentence begins in the middle"),
        ("docs/bad.md", "Ends in code. `f` begins the next.\n", "a sentence begins in the middle"),
        ("docs/bad.md", "- An item (of one\n  list).\n", "ends in the middle of a thought"),
        ("docs/bad.md", "```\ncode\n```\nA line that is not\na thought.\n", "ends in the middle of a thought"),
    ],
    "words": [
        ("docs/bad.md", "What is under way.\n", "the term is in flight"),
        ("README.md", "| a | works the queue off |\n", "the term is drain"),
        ("docs/bad.md", "# Landing rings\n", "the term is RMA receive ring"),
        ("docs/bad.md", "[the twin](e.md)\n", "the term is baseline"),
        ("docs/bad.md", "Nobody waits.\n", "the term is the name of the actor"),
        ("lapse/io/bad.cpp", "// A name that is new, almost surely.\n", "say with high probability"),
        ("docs/bad.md", "The copies follow by and by.\n", "say gradually"),
        ("lapse/io/bad.cpp", "// Like Table::pull, which see.\n", "say see NAME"),
        ("lapse/io/bad.cpp", "int a;  // as there\n", "say see NAME"),
        ("lapse/io/bad.cpp", "// Waits until all have come.\n", "say has arrived"),
        ("docs/bad.md", "The answer has not come yet.\n", "say has arrived"),
        ("docs/bad.md", "The job goes on.\n", "say continues"),
        ("lapse/io/bad.cpp", "// The workers go\n// on with the next batch.\n", "say continues"),
        ("lapse/io/bad.h", "/* Reads so many bytes. */\n", "say that many"),
        ("lapse/io/bad.cpp", "// Throws what f throws, but OutOfMemory.\n", "say except"),
        ("lapse/io/bad.cpp", "// Throws as create_table.\n", "say Throws what f throws"),
        ("lapse/io/bad.cpp", "// Collective. As save, in a thread.\n", "say Like f"),
        ("lapse/io/bad.cpp", "// As find_or_insert for one key.\n", "say Like f"),
        ("lapse/io/bad.cpp", "// The keys, as pull, but in order.\n", "say like f, except that"),
        ("lapse/io/bad.cpp", "// Throws where there is no memory.\n", "say out of memory"),
        ("docs/bad.md", "A disk without room for a checkpoint is an error.\n", "say space"),
        ("docs/bad.md", "Each row is looked at once.\n", "say check, or read"),
        ("docs/bad.md", "Behind a `barrier` and behind the last call the sums are equal.\n", "say after"),
        ("lapse/io/bad.cpp", "// The size; nothing if it is unknown.\n", "say nullopt, or none"),
    ],
    "comments": [
        ("lapse/io/bad.cpp", "  // " + "x" * 106 + "\n", "a comment line of 111 columns"),
        ("apps/bad.hpp", "int a;  // " + "x " * 50 + "\n", "a comment line of 111 columns"),
        ("lapse/io/bad.cpp", "// " + "x" * 100 + "\n// kept\n//     while absent\n", "a torn comment"),
        ("lapse/io/bad.cpp", "  // " + "x" * 90 + "\n  // three stray words\n  // go on\n", "a torn comment"),
    ],
    "format": [("lapse/io/bad.cpp", "int  f( ) ;\n", "is not formatted")],
    "locks": [
        ("lapse/ps/f.cpp", '#include "lapse/ps/f.hpp"\nvoid F::add() { ++size_; }\n', "requires holding mutex 'mutex_'"),
        ("lapse/ps/f.cpp", '#include "lapse/ps/f.hpp"\nvoid F::add() { grow(); }\n', "requires holding mutex 'mutex_'"),
        ("lapse/ps/f.cpp", '#include "lapse/ps/f.hpp"\nvoid F::add() { mutex_.lock(); }\n', "still held at the end"),
        ("lapse/ps/bad.cpp", '#include "lapse/ps/f.hpp"\nvoid f(F& g) { g.send(); }\n', "requires holding role 'role'"),
        ("lapse/ps/bad.hpp", '#include "lapse/ps/f.hpp"\ninline void f(F& g) { g.send(); }\n', "requires holding role 'role'"),
    ],
    "headers": [("lapse/io/bad.hpp", "#pragma once\nstd::vector<int> f();\n", "does not compile alone")],
}


class SelfTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copy(ROOT / ".clang-format", self.root)
        for path, text in GOOD.items():
            self.write(path, text)
        for path in ("thread_annotations.hpp", "lock_role.hpp", "mutex.hpp"):
            shutil.copy(ROOT / "lapse/core" / path, self.root / "lapse/core")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def problems(self, check):
        try:
            return list(lint.CHECKS[check](self.root))
        except compiler_rules.Skipped as skipped:
            self.skipTest(str(skipped))

    def commit(self, *options):
        for command in (["init", "-q", "-b", "main"], ["add", "."],
                        ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "m", *options]):
            subprocess.run(["git", "-C", str(self.root), *command], check=True)

    def test_every_check_has_a_fault(self):
        self.assertEqual({*BAD, "rooms", "tidy"}, set(lint.CHECKS))

    def test_tidy_checks_what_has_changed(self):
        if shutil.which("git") is None or shutil.which("clang-tidy") is None:
            self.skipTest("git or clang-tidy is missing")
        shutil.copy(ROOT / ".clang-tidy", self.root)
        fault = "int* {}_pointer() {{\n  return 0;\n}}\n"
        self.write("lapse/io/old.cpp", fault.format("old"))
        self.commit()
        with self.assertRaises(compiler_rules.Skipped):  # There is no commit to compare with.
            list(lint.CHECKS["tidy"](self.root))
        self.commit("--allow-empty")
        self.assertEqual(list(lint.CHECKS["tidy"](self.root)), [])
        self.write("lapse/io/new.cpp", fault.format("new"))
        self.commit()
        found = list(lint.CHECKS["tidy"](self.root))
        self.assertEqual([problem.path for problem in found], ["lapse/io/new.cpp"])
        self.assertIn("modernize-use-nullptr", str(found[0]))
        # A header and the file of its templates, which include each other.
        self.write("lapse/io/two.hpp", '#pragma once\nclass Two {};\n#include "lapse/io/two_inline.hpp"\n')
        self.write("lapse/io/two_inline.hpp", '#pragma once\n#include "lapse/io/two.hpp"\n' + fault.format("two"))
        self.commit()
        found = list(lint.CHECKS["tidy"](self.root))
        self.assertEqual([problem.path for problem in found], ["lapse/io/two_inline.hpp"])
        self.assertIn("modernize-use-nullptr", str(found[0]))

    def test_nothing_is_found_in_a_good_tree(self):
        for check in BAD:
            with self.subTest(check):
                self.assertEqual(self.problems(check), [])

    def test_faults_are_found(self):
        for check, faults in BAD.items():
            for path, text, mention, *elsewhere in faults:
                with self.subTest(check, fault=text[:60]):
                    self.write(path, text)
                    found = self.problems(check)
                    (self.root / path).unlink()
                    if path in GOOD:
                        self.write(path, GOOD[path])
                    self.assertEqual([problem.path for problem in found], elsewhere or [path])
                    self.assertIn(mention, str(found[0]))

    def test_a_room_has_too_many_files(self):
        for number in range(include_rules.MAX_ROOM_FILES):
            self.write(f"lapse/store/memory/a{number}.hpp", "#pragma once\n")
        self.assertEqual([problem.path for problem in self.problems("rooms")], ["lapse/store/memory"])

    def test_words_are_found_in_names_of_sources(self):
        self.write("lapse/io/names.hpp", "#pragma once\nstruct LandingRing;\nint kMostKeys = hand_over(wishes);  // told\n")
        found = [str(problem) for problem in word_rules.check_words(self.root, (".hpp",))]
        self.assertEqual(len(found), 5)
        for term in ("RMA receive ring", "max", "transfer ownership", "pending re-localize", "notify or report"):
            self.assertTrue(any(problem.endswith(f"the term is {term}") for problem in found), term)

    def test_the_cache_forgets_headers_whose_includes_changed(self):
        cache = self.root / "headers.json"
        self.write("lapse/io/user.hpp", '#pragma once\n\n#include "lapse/core/a.hpp"\n\ninline auto b() { return a(); }\n')
        for _ in range(2):
            self.assertEqual(list(compiler_rules.check_headers(self.root, cache=cache)), [])
        self.write("lapse/core/a.hpp", "#pragma once\n")
        for _ in range(2):
            found = list(compiler_rules.check_headers(self.root, cache=cache))
            self.assertEqual([problem.path for problem in found], ["lapse/io/user.hpp"])

    def test_a_header_lacks_what_many_others_include(self):
        for number in range(6):
            self.write(f"lapse/core/a{number}.hpp", f"#pragma once\n\n#include <functional>\n#include <string>\n\n"
                       f"inline std::string f{number}(std::function<std::string()> f) {{ return f(); }}\n")
        self.write("lapse/core/b.hpp", "#pragma once\n\n#include <cstdint>\n\ninline std::string g() { return {}; }\n")
        self.assertEqual([problem.path for problem in compiler_rules.check_headers(self.root)], ["lapse/core/b.hpp"])


if __name__ == "__main__":
    unittest.main()
