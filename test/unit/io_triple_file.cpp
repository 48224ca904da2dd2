// Triple files: names and ids, unknown names, parts, the bundled data, and errors for damaged files.
#include "lapse/io/triples/triple_file.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/triples/triple_columns.hpp"
#include "lapse/io/vocabulary/vocabulary_merge.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_compress.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using namespace lapse::io;
using lapse::test::TemporaryDirectory;

namespace {

std::string joined(const std::string& path, FilePart part = {}, const TableFormat& format = {}) {
  std::string text;
  TripleReader reader(path, part, format);
  for (NamedTriple triple; reader.next(triple);) {
    text += std::string(triple.subject) + "|" + std::string(triple.relation) + "|" +
            std::string(triple.object) + ";";
  }
  return text;
}

const std::string kWn18rr = std::string(LAPSE_DATA_FOLDER) + "/wn18rr/";

}  // namespace

TEST_CASE("triples are separated by tabs or blanks") {
  const TemporaryDirectory directory;
  const auto parse = [&](const std::string& text) { return joined(directory.write("triples", text)); };
  CHECK(parse("a\tr\tb\nb\tr, s\tc\n") == "a|r|b;b|r, s|c;");
  CHECK(parse("New York\tis in\tUnited States\r\n\n \t \nx\ty\tz") == "New York|is in|United States;x|y|z;");
  CHECK(parse("a r b\n  b   r c \n") == "a|r|b;b|r|c;");
  CHECK(parse("a\tr\t b \n") == "a|r|b;");
  CHECK(parse("\xEF\xBB\xBF"
              "a\tr\t\xc3\xa9\n") == "a|r|\xc3\xa9;");
  CHECK(parse("").empty());
  CHECK(parse("\n\n").empty());
}

TEST_CASE("malformed triples are refused with line and column") {
  const TemporaryDirectory directory;
  const auto check = [&](const std::string& text, const std::string& words) {
    CHECK_THROWS_AS(joined(directory.write("triples", text)), lapse::FileError);
    CHECK_THROWS_WITH(joined(directory / "triples"), Contains(words));
  };
  check("a\tr\tb\na\tr\n", "triples:2:1: 2 fields, expected 3, separated by tabs as in the first line");
  check("a\tr\tb\tc\n", "triples:1:1: 4 fields");
  check("a r b\na r b c\n", "triples:2:1: 4 fields, expected 3, separated by blanks");
  check("a\tr\tb\n\na r b\n",
        "triples:3:1: 1 field, expected 3, separated by tabs as in the first line: the line");
  check("a,r,b\n",
        "triples:1:1: 1 field, expected 3, separated by tabs or blanks: the line has none, but commas");
  check("a;r;b\n", "separated by tabs or blanks: the line has none, but semicolons");
  check("a\t\tb\n", "triples:1:3: empty name");
  check("a\tr\tb\na\tr\t \n", "triples:2:6: empty name");
  check("\tr\tb\n", "triples:1:1: empty name");
  check(std::string("a\tr\tb\na\tr\0\tb\n", 13), "triples:2:4: NUL byte");
}

TEST_CASE("triples are read from tables with other columns") {
  const TemporaryDirectory directory;
  const auto parse = [&](const std::string& text, const TableFormat& format) {
    return joined(directory.write("triples", text), {}, format);
  };
  CHECK(parse("id,head,tail,type\n1,a,b,r\n2,b,\"c, d\",r\n", {.columns = {"head", "type", "tail"}}) ==
        "a|r|b;b|r|c, d;");
  // OpenKE: head, tail and relation.
  CHECK(parse("0 1 5\n2 3 5\n", {.columns = {"1", "3", "2"}}) == "0|5|1;2|5|3;");
  CHECK(parse("a;r;b\n", {.separator = ";"}) == "a|r|b;");
  CHECK_THROWS_WITH(parse("a,b\n", {.columns = {"1", "2", "3"}}), Contains("there is no column '3'"));
  CHECK_THROWS_WITH(parse("h,r,t\na,b,c\n", {.columns = {"h", "r", "o"}}),
                    Contains("triples:1:1: there is no column 'o' in the first line, which has 3 columns"));
  CHECK_THROWS_WITH(parse("h,r,t\na,,c\n", {.columns = {"h", "r", "t"}}),
                    Contains("triples:2:3: empty name"));
  CHECK_THROWS_WITH(parse("a;r;b\na;r\n", {.separator = ";"}),
                    Contains("triples:2:1: 2 fields, expected 3, separated by semicolons as in the first"));
  CHECK_THROWS_AS(parse("a b c\n", {.columns = {"1", "2"}}), lapse::UsageError);
}

TEST_CASE("N-Triples are read") {
  const TemporaryDirectory directory;
  const auto parse = [&](const std::string& text) { return joined(directory.write("triples", text)); };
  CHECK(parse("<http://x.org/a> <http://x.org/r> <http://x.org/b> .\n"
              "# a comment\n\n"
              "_:node <r> \"New \\\"York\\\"\"@en .\n"
              "<a><r>\"5\"^^<http://www.w3.org/2001/XMLSchema#integer> . # five\n") ==
        "http://x.org/a|http://x.org/r|http://x.org/b;_:node|r|\"New \\\"York\\\"\"@en;"
        "a|r|\"5\"^^<http://www.w3.org/2001/XMLSchema#integer>;");
  CHECK(parse("# made by hand\n<a>\t<r>\t<b>.\n_:m <r> _:n.\n<a> <r> \"x\".# c\n") ==
        "a|r|b;_:m|r|_:n;a|r|\"x\";");
  CHECK(parse("<a> <r> <b> . # first\n") == "a|r|b;");
  const std::string path =
      directory.write("commented", "# one\n#two\n<a> <r> <b> .\n# three\n<b> <r> <c> .\n");
  std::string in_parts;
  for (std::uint32_t part = 0; part < 4; ++part) in_parts += joined(path, {part, 4});
  CHECK(in_parts == "a|r|b;b|r|c;");
  const std::string table = directory.write("table", "# one\n# two\n\na r b\nb r c\nc r d\n");
  std::string of_table;
  for (std::uint32_t part = 0; part < 4; ++part) of_table += joined(table, {part, 4});
  CHECK(of_table == "a|r|b;b|r|c;c|r|d;");
  const std::string first = "<a> <r> <b> .\n";
  for (const char* const line :
       {"<a> <r> <b>", "<a> <r> b .", "<a> \"r\" <b> .", "\"a\" <r> <b> .", "<a> <r .", "<> <r> <b> .",
        "<a> <r> \"b .", "<a> _:r <b> .", "<a> <r> <b> . <c>", "<a> <r> \"b\\"})
    CHECK_THROWS_WITH(parse(first + line + "\n"), Contains("triples:2:"));
}

TEST_CASE("a first line of names of columns is a warning") {
  const TemporaryDirectory directory;
  const auto warning = [&](const std::string& text, FilePart part = {}) {
    Vocabulary names;
    const TripleFile file = read_triples(directory.write("triples", text + "\na\tr\tb\n"),
                                         NameIds::growing(names), NameIds::growing(names), part);
    CHECK(file.triples.size() == (part.is_whole() ? 2 : 1));
    return file.warning;
  };
  CHECK_THAT(warning("head\trelation\ttail"),
             Contains("triples: the first line, 'head', 'relation', 'tail', looks like the names of columns, "
                      "and is read as a triple"));
  CHECK_THAT(warning("Head\tTail\tRelation"),
             Contains("the columns are read as subject, relation and object"));
  CHECK_THAT(warning("head\trelation\ttail", {0, 2}), Contains("'relation'"));
  CHECK(warning("head\trelation\ttail", {1, 2}).empty());
  CHECK(warning("head\tis near\ttail").empty());
}

TEST_CASE("a relation with nearly as many names as there are entities is a warning") {
  std::vector<Triple> triples;
  for (Vocabulary::Id i = 0; i < 60; ++i) triples.push_back({i % 20, i * 7 % 20, i % 3 + 20});
  CHECK(
      relation_warning(triples, 23, 20) ==
      "the second column, read as the relation, has 20 names, of 23 entities in the first and the third; the "
      "third column has 3: expected lines `subject relation object`");
  CHECK(relation_warning(triples, 41, 20).empty());
  CHECK(relation_warning(triples, 10, 9).empty());
}

TEST_CASE("names become ids in a growing vocabulary") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("triples", "a\tr\tb\nb\ts\ta\nc\tr\ta\n");
  Vocabulary entities;
  Vocabulary relations;
  const TripleFile file = read_triples(path, NameIds::growing(entities), NameIds::growing(relations));
  CHECK(file.triples == std::vector<Triple>{{0, 0, 1}, {1, 1, 0}, {2, 0, 0}});
  CHECK(file.left_out == 0);
  CHECK(entities.count(0) == 3);
  CHECK(relations.count(0) == 2);
}

TEST_CASE("names that a frozen vocabulary lacks are counted and placed, and the caller decides") {
  const TemporaryDirectory directory;
  Vocabulary entities;
  Vocabulary relations;
  entities.add("a");
  entities.add("b");
  relations.add("r");
  const std::string path = directory.write(
      "test", "a\tr\tb\nnew\tr\ta\na\tr\tnewer\nnew\tr\tnew\nb\tlikes\tx\nb\tr\tb\na\tlikes\tb\n");
  SECTION("all frozen") {
    const TripleFile file = read_triples(path, NameIds::frozen(entities), NameIds::frozen(relations));
    CHECK(file.triples == std::vector<Triple>{{0, 0, 1}, {1, 0, 1}});
    CHECK(file.left_out == 5);
    CHECK(file.unknown_entities.count == 4);
    CHECK(file.unknown_entities.name == "new");
    CHECK(file.unknown_entities.line == 2);
    CHECK(file.unknown_entities.column == 1);
    CHECK(file.unknown_relations.count == 2);
    CHECK(file.unknown_relations.error("relation").what() ==
          path + ":5:3: unknown relation 'likes' (2 in all)");
    CHECK(file.unknown_relations.error("relation").column() == 3);
    CHECK(entities.size() == 2);
  }
  SECTION("entities grow without counting, relations are frozen") {
    const TripleFile file = read_triples(path, NameIds::growing(entities, 0), NameIds::frozen(relations));
    CHECK(file.triples == std::vector<Triple>{{0, 0, 1}, {2, 0, 0}, {0, 0, 3}, {2, 0, 2}, {1, 0, 1}});
    CHECK(file.left_out == 2);
    CHECK(file.unknown_entities.count == 0);
    CHECK(file.unknown_relations.count == 2);
    CHECK_FALSE(entities.find("x"));
    CHECK(entities.count(2) == 0);
    CHECK(entities.count(0) == 1);
    CHECK(entities.sorted().name(3) == "newer");
  }
}

TEST_CASE("triples of numbers are read without a vocabulary") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("triples", "0\t1\t9\n3\t0\t007\n");
  CHECK(read_id_triples(path, 9, 1) == std::vector<Triple>{{0, 1, 9}, {3, 0, 7}});
  CHECK_THROWS_WITH(read_id_triples(path, 8, 1),
                    Contains("triples:1:5: object id '9' out of range, expected at most 8"));
  CHECK_THROWS_WITH(read_id_triples(path, 9, 0), Contains("triples:1:3: relation id '1' out of range"));
  CHECK_THROWS_WITH(read_id_triples(directory.write("names", "a r b\n"), 9, 9), Contains("subject id 'a'"));
}

TEST_CASE("ids are translated") {
  std::vector<Triple> triples{{0, 0, 1}, {1, 1, 0}};
  translate(triples, {7, 5}, {3, 2});
  CHECK(triples == std::vector<Triple>{{7, 3, 5}, {5, 2, 7}});
  CHECK_THROWS_AS(translate(triples, {7, 5}, {3, 2}), lapse::UsageError);
}

TEST_CASE("the parts of a triple file give all triples, in one numbering") {
  const TemporaryDirectory directory;
  std::string text = "\n \nfirst one\tis\tb\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i % 83) + "\tr" + std::to_string(i % 7) + "\to\n";
  const auto compression = GENERATE(Compression::none, Compression::xz);
  const std::string path = directory.write("triples", lapse::test::compress(compression, text));
  Vocabulary whole_entities;
  Vocabulary whole_relations;
  auto expected =
      read_triples(path, NameIds::growing(whole_entities), NameIds::growing(whole_relations)).triples;
  translate(expected, whole_entities.translation_to(whole_entities.sorted()),
            whole_relations.translation_to(whole_relations.sorted()));

  struct Part {
    Vocabulary entities;
    Vocabulary relations;
    std::vector<Triple> triples;
  };
  std::vector<Part> parts(3);
  std::vector<std::vector<std::byte>> entity_bytes;
  std::vector<std::vector<std::byte>> relation_bytes;
  for (std::uint32_t index = 0; index < 3; ++index) {
    Part& part = parts[index];
    part.triples =
        read_triples(path, NameIds::growing(part.entities), NameIds::growing(part.relations), {index, 3})
            .triples;
    CHECK(part.triples.size() > 250);
    entity_bytes.push_back(part.entities.to_bytes());
    relation_bytes.push_back(part.relations.to_bytes());
  }
  std::vector<Triple> all;
  for (Part& part : parts) {
    const Vocabulary entities = merge_vocabularies(part.entities, [&](auto) { return entity_bytes; });
    const Vocabulary relations = merge_vocabularies(part.relations, [&](auto) { return relation_bytes; });
    translate(part.triples, part.entities.translation_to(entities), part.relations.translation_to(relations));
    all.insert(all.end(), part.triples.begin(), part.triples.end());
  }
  const auto by_ids = [](const Triple& a, const Triple& b) {
    return std::tie(a.subject, a.relation, a.object) < std::tie(b.subject, b.relation, b.object);
  };
  std::sort(all.begin(), all.end(), by_ids);
  std::sort(expected.begin(), expected.end(), by_ids);
  CHECK(all == expected);
}

TEST_CASE("parts of a triple file are separated as its first line is") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("triples", "a b\tr\tc d\n\ne f g\nx\tr\ty\n");
  CHECK(joined(path, {0, 2}) == "a b|r|c d;");
  CHECK_THROWS_WITH(joined(path, {1, 2}), Contains("triples:3:1: 1 field, expected 3, separated by tabs"));
}

TEST_CASE("the bundled WN18RR is whole") {
  Vocabulary entities;
  Vocabulary relations;
  const auto train =
      read_triples(kWn18rr + "train.txt.xz", NameIds::growing(entities), NameIds::growing(relations));
  CHECK(train.triples.size() == 86835);
  CHECK(entities.size() == 40559);
  CHECK(relations.size() == 11);
  CHECK(entities.name(train.triples[0].subject) == "00260881");
  CHECK(relations.name(train.triples[0].relation) == "_hypernym");

  const auto frozen =
      read_triples(kWn18rr + "test.txt.xz", NameIds::frozen(entities), NameIds::frozen(relations));
  CHECK(frozen.triples.size() == 3134 - 210);
  CHECK(frozen.left_out == 210);
  CHECK(frozen.unknown_relations.count == 0);

  const auto valid =
      read_triples(kWn18rr + "valid.txt.xz", NameIds::growing(entities, 0), NameIds::frozen(relations));
  const auto test =
      read_triples(kWn18rr + "test.txt.xz", NameIds::growing(entities, 0), NameIds::frozen(relations));
  CHECK(valid.triples.size() == 3034);
  CHECK(test.triples.size() == 3134);
  CHECK(entities.size() == 40943);
}
