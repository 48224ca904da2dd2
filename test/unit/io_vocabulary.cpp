// Names and ids: in one vocabulary, merged over ranks, and in files.
#include "lapse/io/vocabulary/vocabulary.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"
#include "lapse/io/vocabulary/vocabulary_merge.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_compress.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using lapse::io::merge_vocabularies;
using lapse::io::read_vocabulary;
using lapse::io::Vocabulary;
using lapse::io::write_vocabulary;
using lapse::test::TemporaryDirectory;

namespace {

using NamesAndCounts = std::vector<std::pair<std::string, std::uint64_t>>;

NamesAndCounts content(const Vocabulary& vocabulary) {
  NamesAndCounts result;
  for (Vocabulary::Id id = 0; id < vocabulary.size(); ++id) {
    result.emplace_back(vocabulary.name(id), vocabulary.count(id));
    CHECK(vocabulary.find(vocabulary.name(id)) == id);
  }
  return result;
}

// The merged vocabularies of a job's ranks, each made from its own vocabulary.
std::vector<Vocabulary> merged_on_all(const std::vector<Vocabulary>& locals) {
  std::vector<std::vector<std::byte>> all;
  for (const Vocabulary& local : locals) all.push_back(local.to_bytes());
  std::vector<Vocabulary> merged;
  for (const Vocabulary& local : locals) {
    merged.push_back(merge_vocabularies(local, [&](const std::vector<std::byte>& own) {
      CHECK(std::find(all.begin(), all.end(), own) != all.end());
      return all;
    }));
  }
  return merged;
}

}  // namespace

TEST_CASE("names get ids in the order of their first occurrence, and are counted") {
  Vocabulary vocabulary;
  CHECK(vocabulary.empty());
  CHECK_FALSE(vocabulary.find("a"));
  CHECK(vocabulary.add("b") == 0);
  CHECK(vocabulary.add("a", 5) == 1);
  CHECK(vocabulary.add("b") == 0);
  CHECK(vocabulary.add(std::string(100000, 'x'), 0) == 2);
  CHECK(vocabulary.add(std::string_view("\0", 1)) == 3);
  CHECK_FALSE(vocabulary.find("c"));
  CHECK_FALSE(vocabulary.find(""));
  CHECK(content(vocabulary) ==
        NamesAndCounts{{"b", 2}, {"a", 5}, {std::string(100000, 'x'), 0}, {std::string(1, '\0'), 1}});
  CHECK_THROWS_AS(vocabulary.add(""), lapse::UsageError);
  CHECK_THROWS_AS(vocabulary.name(4), lapse::UsageError);
  CHECK_THROWS_AS(vocabulary.count(4), lapse::UsageError);
}

TEST_CASE("many names are distinguished, in the memory that is promised") {
  constexpr Vocabulary::Id kNames = 300000;
  Vocabulary vocabulary;
  std::size_t characters = 0;
  for (Vocabulary::Id id = 0; id < kNames; ++id) {
    const std::string name = "/m/0" + std::to_string(id * 7919ULL);
    characters += name.size();
    REQUIRE(vocabulary.add(name) == id);
  }
  for (Vocabulary::Id id = 0; id < kNames; id += 37) {
    REQUIRE(vocabulary.find("/m/0" + std::to_string(id * 7919ULL)) == id);
    REQUIRE_FALSE(vocabulary.find("/m/1" + std::to_string(id * 7919ULL)));
  }
  // The arrays may have grown to twice their contents.
  CHECK(vocabulary.memory_bytes() <= 2 * characters + kNames * (2 * 16 + 22));
  // A copy is not larger than its contents.
  const Vocabulary copy = vocabulary;
  CHECK(copy.memory_bytes() <= characters + kNames * 38);
  CHECK(copy.memory_bytes() >= characters + kNames * 26);
  CHECK(vocabulary.sorted().memory_bytes() == copy.memory_bytes());
}

TEST_CASE("sorting numbers names by count, then by their bytes") {
  Vocabulary vocabulary;
  vocabulary.add("rare");
  vocabulary.add("b", 7);
  vocabulary.add("\xc3\xa9", 7);
  vocabulary.add("a", 7);
  vocabulary.add("unseen", 0);
  vocabulary.add("most", 8);
  const Vocabulary sorted = vocabulary.sorted();
  CHECK(content(sorted) ==
        NamesAndCounts{{"most", 8}, {"a", 7}, {"b", 7}, {"\xc3\xa9", 7}, {"rare", 1}, {"unseen", 0}});
  CHECK(vocabulary.translation_to(sorted) == std::vector<Vocabulary::Id>{4, 2, 3, 1, 5, 0});
  Vocabulary close;  // names that differ only at the end, or only by zeros
  for (const char* const name : {"longer-name-b", "longer-name-a", "longer-n", "longer-"}) close.add(name);
  close.add({"longer-\0", 8});
  CHECK(content(close.sorted()) == NamesAndCounts{{"longer-", 1},
                                                  {{"longer-\0", 8}, 1},
                                                  {"longer-n", 1},
                                                  {"longer-name-a", 1},
                                                  {"longer-name-b", 1}});
  Vocabulary smaller;
  smaller.add("rare");
  CHECK_THROWS_WITH(vocabulary.translation_to(smaller), Contains("name 'b' is not in"));
  CHECK(Vocabulary().sorted().empty());
}

TEST_CASE("all ranks get one numbering, however the names are divided among them") {
  lapse::RandomEngine random(5);
  std::vector<std::string> names;
  std::map<std::string, std::uint64_t> counts;
  for (int i = 0; i < 5000; ++i) {
    names.push_back("name " + std::to_string(random.below(1 + random.below(700))));
    ++counts[names.back()];
  }
  NamesAndCounts expected(counts.begin(), counts.end());
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const std::size_t ranks : {1U, 2U, 3U, 8U}) {
    std::vector<Vocabulary> locals(ranks + 1);  // one is empty
    for (const std::string& name : names) locals[random.below(ranks)].add(name);
    const auto merged = merged_on_all(locals);
    for (std::size_t rank = 0; rank <= ranks; ++rank) {
      CHECK(content(merged[rank]) == expected);
      const auto ids = locals[rank].translation_to(merged[rank]);
      for (Vocabulary::Id id = 0; id < ids.size(); ++id) {
        REQUIRE(merged[rank].name(ids[id]) == locals[rank].name(id));
      }
    }
  }
}

TEST_CASE("damaged bytes of a vocabulary are refused") {
  Vocabulary vocabulary;
  vocabulary.add("first");
  vocabulary.add("second", 3);
  const auto bytes = vocabulary.to_bytes();
  Vocabulary same;
  same.add_bytes(bytes);
  CHECK(content(same) == content(vocabulary));
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    if (size == 8 + 4 + 5) continue;  // a complete name
    Vocabulary target;
    CHECK_THROWS_AS(target.add_bytes(std::span(bytes).first(size)), lapse::ProtocolError);
  }
  CHECK_THROWS_AS(same.add_bytes(std::vector<std::byte>(12)), lapse::ProtocolError);
  CHECK_THROWS_AS(
      merge_vocabularies(vocabulary, [](auto) { return std::vector(1, std::vector<std::byte>(3)); }),
      lapse::ProtocolError);
}

TEST_CASE("vocabularies survive a file, in their order") {
  const TemporaryDirectory directory;
  Vocabulary vocabulary;
  vocabulary.add("zebra", 2);
  vocabulary.add("two words", 18446744073709551615U);
  vocabulary.add(" ", 0);
  vocabulary.add("\xEF\xBB\xBF\xc3\xa9", 1);
  for (int i = 0; i < 20000; ++i) vocabulary.add(std::to_string(i));
  const std::string path = directory / "names";
  write_vocabulary(path, vocabulary);
  CHECK(content(read_vocabulary(path)) == content(vocabulary));
  CHECK(lapse::test::content_of(path).starts_with("zebra\t2\ntwo words\t18446744073709551615\n \t0\n"));
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  const std::string packed = directory.write("packed", lapse::test::gzip(lapse::test::content_of(path)));
  CHECK(content(read_vocabulary(packed)) == content(vocabulary));
  write_vocabulary(path, {});
  CHECK(read_vocabulary(path).empty());
  CHECK(content(read_vocabulary(directory.write("list", "b\r\na b\nc\t4"))) ==
        NamesAndCounts{{"b", 0}, {"a b", 0}, {"c", 4}});
}

TEST_CASE("what no vocabulary file can hold is refused, and leaves no file behind") {
  const TemporaryDirectory directory;
  const std::string path = directory / "names";
  const std::string name =
      GENERATE(std::string("a\tb"), std::string("a\nb"), std::string("a\r"), std::string("a\0b", 3),
               std::string("\xEF\xBB\xBF"
                           "a"),
               std::string(1U << 20U, 'x'));
  Vocabulary vocabulary;
  vocabulary.add(name);
  CHECK_THROWS_AS(write_vocabulary(path, vocabulary), lapse::UsageError);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  CHECK_THROWS_AS(write_vocabulary(directory / "missing/names", vocabulary), lapse::FileError);
}

TEST_CASE("malformed vocabulary files are refused with their place") {
  const TemporaryDirectory directory;
  const auto check = [&](const std::string& text, const std::string& words) {
    CHECK_THROWS_AS(read_vocabulary(directory.write("names", text)), lapse::FileError);
    CHECK_THROWS_WITH(read_vocabulary(directory / "names"), Contains(words));
  };
  check("a\t1\n\nb\t2\n", "names:2:1: no name");
  check("a\t1\n\t2\n", "names:2:1: no name");
  check("a\t1\nb\t2\na\t3\n", "names:3:1: name 'a' occurs twice");
  check("a\t1\nb\t-2\n", "names:2:3: count '-2', expected an integer from 0");
  check("a\t18446744073709551616\n", "names:1:3: count");
  check("a\t1\t2\n", "names:1:3: count '1?2'");
  check("a\t\n", "names:1:3: count ''");
  check(std::string("a\t1\nb\0\t2\n", 9), "names:2:2: NUL byte");
  CHECK_THROWS_AS(read_vocabulary(directory / "missing"), lapse::FileError);
}

TEST_CASE("threads look up names in one vocabulary") {
  Vocabulary vocabulary;
  for (int i = 0; i < 1000; ++i) vocabulary.add(std::to_string(i));
  std::vector<std::thread> threads;
  std::vector<int> found(3);
  for (int& count : found) {
    threads.emplace_back([&vocabulary, &count] {
      for (int i = 0; i < 2000; ++i) count += vocabulary.find(std::to_string(i)) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(found == std::vector<int>{1000, 1000, 1000});
}
