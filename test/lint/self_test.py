#!/usr/bin/env python3
"""Shows that every check finds what it is there for, and nothing in a tree without faults."""
import pathlib
import shutil
import tempfile
import unittest

import compiler_rules
import lint

ROOT = pathlib.Path(__file__).resolve().parents[2]

GOOD = {
    "lapse/core/a.hpp": "#pragma once\n\n#include <vector>\n\nstd::vector<int> a();\n",
    "lapse/store/b.hpp": "#pragma once\n",
    "lapse/store/b.cpp": '#include <mutex>\n\n#include "lapse/core/a.hpp"\n',
    "lapse/transport/c.cpp": "#include <mpi.h>\n",
    "lapse/transport/c.hpp": "#pragma once\n",
    "test/support/catch.hpp": "#pragma once\n",
    "apps/d.cpp": '#include <mpi.h>\n\n#include "lapse/core/a.hpp"\n',
    "lapse/ps/parameter_server.hpp": "#pragma once\n",
    "lapse/transport/mpi_environment.hpp": "#pragma once\n",
    **{f"lapse/many/{i}.hpp": "#pragma once\n" for i in range(25)},
    "README.md": "[a](lapse/core/a.hpp) [web](https://example.org) [here](#words)\n```\n[no](link)\n```\n",
    "docs/e.md": "[up](../README.md#words)\n",
}

# Check -> faults: a file, its text, what the problem must mention, and where it is reported if not in that file.
BAD = {
    "arrows": [
        ("lapse/core/bad.cpp", '#include "lapse/store/b.hpp"\n', "lapse/core must not include"),
        ("lapse/core/bad.cpp", '#include "lapse/core/none.hpp"\n', "does not exist"),
        ("lapse/store/bad.cpp", '#include "b.hpp"\n', "is no full path"),
        ("lapse/store/bad.cpp", "#include <lapse/core/a.hpp>\n", "belongs to the project"),
        ("io/bad.cpp", '#  include "lapse/transport/c.hpp"\n', "io must not include"),
        ("lapse/ps/bad.cpp", '#include "test/support/catch.hpp"\n', "lapse/ps must not include"),
        ("lapse/new/bad.cpp", '#include "lapse/core/a.hpp"\n', "lies in no folder"),
    ],
    "mpi": [
        ("lapse/core/bad.hpp", "#include <mpi.h>\n", "includes <mpi.h>"),
        ("lapse/ps/bad.cpp", '#include "mpi.h"\n', "includes <mpi.h>"),
        ("io/bad.cpp", "#include <mpi.h>\n", "includes <mpi.h>"),
    ],
    "public_headers": [
        ("lapse/ps/parameter_server.hpp", '#include "lapse/transport/c.hpp"\n', "sees this inner header", "lapse/transport/c.hpp"),
        ("lapse/ps/parameter_server.hpp", "\n" * 2001, "2002 lines"),
        ("lapse/ps/parameter_server.hpp", "".join(f'#include "lapse/many/{i}.hpp"\n' for i in range(25)), "27 headers"),
    ],
    "file_length": [("io/bad.cpp", "\n" * 351, "has 351 lines")],
    "unfinished": [
        ("io/bad.cpp", "// TO" + "DO: later\n", "finish it"),
        ("docs/bad.md", "FIX" + "ME\n", "finish it"),
    ],
    "sleeps": [
        ("test/unit/bad.cpp", "std::this_thread::sleep_" + "for(1ms);\n", "wait for a condition"),
        ("lapse/ps/bad.hpp", "u" + "sleep(5);\n", "wait for a condition"),
    ],
    "links": [
        ("docs/bad.md", "[there](nowhere.md)\n", "nowhere.md"),
        ("README.md", "text\n[a](lapse/core/a.hpp), [b](docs/none.md#part)\n", "docs/none.md"),
    ],
    "format": [("io/bad.cpp", "int  f( ) ;\n", "is not formatted")],
    "headers": [("io/bad.hpp", "#pragma once\nstd::vector<int> f();\n", "does not compile alone")],
}


class SelfTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copy(ROOT / ".clang-format", self.root)
        for path, text in GOOD.items():
            self.write(path, text)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def problems(self, check):
        try:
            return list(lint.CHECKS[check](self.root))
        except compiler_rules.Skipped as skipped:
            self.skipTest(str(skipped))

    def test_every_check_has_a_fault(self):
        self.assertEqual(set(BAD), set(lint.CHECKS))

    def test_nothing_is_found_in_a_good_tree(self):
        for check in lint.CHECKS:
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

    def test_the_cache_forgets_headers_whose_includes_changed(self):
        cache = self.root / "headers.json"
        self.write("io/user.hpp", '#pragma once\n\n#include "lapse/core/a.hpp"\n\ninline auto b() { return a(); }\n')
        for _ in range(2):
            self.assertEqual(list(compiler_rules.check_headers(self.root, cache=cache)), [])
        self.write("lapse/core/a.hpp", "#pragma once\n")
        for _ in range(2):
            found = list(compiler_rules.check_headers(self.root, cache=cache))
            self.assertEqual([problem.path for problem in found], ["io/user.hpp"])


if __name__ == "__main__":
    unittest.main()
