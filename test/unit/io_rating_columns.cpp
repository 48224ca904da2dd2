// Rating files as other programs write them: columns, separators, quotes, and ids that are names.
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/matrices/rating_file.hpp"
#include "lapse/io/text/table_fields.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse::io;
using Catch::Matchers::Contains;
using lapse::test::TemporaryDirectory;

namespace {

// "user item rating" of each line, as the file names them, separated by semicolons.
std::string ratings_in(const std::string& content, const RatingFileOptions& options = {}) {
  const TemporaryDirectory directory;
  RatingIds ids;
  std::string text;
  for (const Cell& cell : read_ratings(directory.write("ratings", content), ids, options).cells) {
    text += (text.empty() ? "" : "; ") + ids.users.text(cell.row) + " " + ids.items.text(cell.column) + " " +
            std::to_string(static_cast<int>(cell.value));
  }
  return text;
}

std::string layout_of(const std::string& content, const RatingFileOptions& options = {}) {
  const TemporaryDirectory directory;
  RatingIds ids;
  return read_ratings(directory.write("ratings", content), ids, options).layout;
}

std::string error_of(const std::string& content, const RatingFileOptions& options = {}) {
  const TemporaryDirectory directory;
  RatingIds ids;
  try {
    read_ratings(directory.write("ratings", content), ids, options);
  } catch (const lapse::FileError& error) {
    const std::string text = error.what();
    return text.substr(text.rfind('/') + 1);
  }
  return "no error";
}

using FieldList = std::vector<std::string_view>;

}  // namespace

TEST_CASE("lines of a table are split at any separator") {
  CHECK(TableFields("\t").split("a\t b \t\tc") == FieldList{"a", "b", "", "c"});
  CHECK(TableFields("::").split("1::2:3::4") == FieldList{"1", "2:3", "4"});
  CHECK(TableFields(" ").split("  a \t b   c ") == FieldList{"a", "b", "c"});
  CHECK(TableFields(",").split("") == FieldList{""});
  CHECK(TableFields("|").split("a|") == FieldList{"a", ""});
}

TEST_CASE("quotes around a field do not belong to it, and hide separators between commas and semicolons") {
  TableFields commas(",");
  CHECK(commas.split(R"("a,b",c, "d ""e""" ,"")") == FieldList{"a,b", "c", R"(d "e")", ""});
  CHECK_FALSE(commas.has_open_quote());
  CHECK(commas.split(R"(5" pipe,x)") == FieldList{R"(5" pipe)", "x"});
  CHECK_FALSE(commas.has_open_quote());
  commas.split(R"(a,"b,c)");
  CHECK(commas.has_open_quote());
  commas.split("a,b");
  CHECK_FALSE(commas.has_open_quote());
  CHECK(TableFields("\t").split("\"a\"\t\"b\tc\"") == FieldList{"a", "\"b", "c\""});
  CHECK(TableFields(" ").split("\"a\" \"b\"") == FieldList{"a", "b"});
}

TEST_CASE("rating files of other programs are read as they are") {
  const std::vector<std::pair<std::string, std::string>> files{
      // MovieLens 100K, 1M and later ones.
      {"196\t242\t3\t881250949\n186\t302\t3\t891717742\n", "196 242 3; 186 302 3"},
      {"1::1193::5::978300760\n1::661::3::978302109\n", "1 1193 5; 1 661 3"},
      {"userId,movieId,rating,timestamp\n1,31,2.0,1260759144\n", "1 31 2"},
      // Book-Crossing.
      {"\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"276725\";\"034545104X\";\"0\"\n", "276725 034545104X 0"},
      // Amazon reviews.
      {"AKM1MP6P0OYPR,0132793040,5.0,1365811200\nA2CX7LUOHB2NDG,0321732944,5.0,1341100800\n",
       "AKM1MP6P0OYPR 0132793040 5; A2CX7LUOHB2NDG 0321732944 5"},
      // pandas with its index, and columns in another order.
      {",user,item,rating\n0,1,8,4.0\n1,1,19,3.0\n", "1 8 4; 1 19 3"},
      {"rating\titem\tuser\n3\tfilm\tada\n", "ada film 3"},
      // R's write.table.
      {"\"user\" \"item\" \"rating\"\n\"ada\" 7 3\n", "ada 7 3"},
      // Yelp, goodbooks, last.fm.
      {"business_id,user_id,stars\nb1,u1,4\n", "u1 b1 4"},
      {"user_id,book_id,rating\n1,258,5\n", "1 258 5"},
      {"userID\tartistID\tweight\n2\t51\t13883\n", "2 51 13883"},
      {"ada|jazz|3\nbob|rock|4\n", "ada jazz 3; bob rock 4"},
  };
  for (const auto& [content, expected] : files) {
    CAPTURE(content);
    CHECK(ratings_in(content) == expected);
  }
}

TEST_CASE("options say which columns are read") {
  const std::string table = "when,who,what,how\n7,ada,jazz,3\n8,bob,rock,4\n";
  CHECK(ratings_in(table, {.columns = {"who", "what", "how"}}) == "ada jazz 3; bob rock 4");
  CHECK(ratings_in(table, {.columns = {"3", "2", "1"}}) == "jazz ada 7; rock bob 8");
  CHECK(ratings_in(table, {.columns = {"who", "what"}}) == "ada jazz 1; bob rock 1");
  CHECK(ratings_in("1,2\n3,4\n", {.columns = {"2", "1"}}) == "2 1 1; 4 3 1");
  CHECK(ratings_in("user,item\n3,4\n", {.columns = {"1", "2"}}) == "3 4 1");
  // Names that look like no header, and a separator that would not be found.
  CHECK(ratings_in("ada,jazz\nbob,rock\n", {.columns = {"1", "2"}}) == "ada jazz 1; bob rock 1");
  CHECK(ratings_in("1,5 2 3\n", {.separator = " ", .ids = IdKind::names}) == "1,5 2 3");
  CHECK(
      layout_of(table, {.columns = {"who", "what", "how"}}) ==
      "separated by commas; user: column 2 (who), item: column 3 (what), rating: column 4 (how); 4 columns, "
      "the first line names them");
  CHECK(layout_of("1 2 3\n") ==
        "separated by blanks; user: column 1, item: column 2, rating: column 3; 3 columns");
  CHECK(
      error_of(table, {.columns = {"who", "wat", "how"}}) ==
      "ratings:1:1: there is no column 'wat' in the first line, which has 4 columns: 'when', 'who', 'what', "
      "'how'");
  CHECK_THAT(error_of("1 2 3\n", {.columns = {"1", "2", "4"}}), Contains("there is no column '4'"));
  CHECK_THROWS_AS(ratings_in(table, {.columns = {"who"}}), lapse::UsageError);
  // Numbers are names if one of them is no number from 1.
  CHECK(ratings_in("0,1,2\n5,6,3\n", {.columns = {"0", "1", "2"}}) == "5 6 3");
  CHECK_THAT(error_of("1,2,3\n", {.columns = {"1", "1", "3"}}), Contains("the column '1' is given twice"));
  CHECK_THAT(error_of("u,i,r,r\n1,2,3,4\n", {.columns = {"u", "i", "r"}}),
             Contains("several columns have the name 'r'"));
}

TEST_CASE("ids are numbers or names, as the first of each") {
  CHECK(ratings_in("1 jazz 3\n2 7 4\n") == "1 jazz 3; 2 7 4");
  CHECK(ratings_in("007 1 3\n") == "007 1 3");
  CHECK(ratings_in("007 1 3\n", {.ids = IdKind::numbers}) == "7 1 3");
  CHECK_THAT(error_of("7 1 3\n007 1 3\n"), Contains("user id '007', expected an integer from 0 as before"));
  CHECK(ratings_in("Nan Inf 3\n12e5 info 4\n") == "Nan Inf 3; 12e5 info 4");
  CHECK(error_of("1 2 3\nada 2 4\n") ==
        "ratings:2:1: user id 'ada', expected an integer from 0 as before, unless ids are declared to be "
        "names");
  CHECK(error_of("-1 2 3\n") == "ratings:1:1: user id '-1', expected an integer from 0");
  CHECK(error_of("1.5 2 3\n") == "ratings:1:1: user id '1.5', expected an integer from 0");
  CHECK(error_of("ada 2 3\n", {.ids = IdKind::numbers}) ==
        "ratings:1:1: user id 'ada', expected an integer from 0");
  CHECK_THAT(error_of(",2,3\n"), Contains("user '', expected a name"));
  CHECK_THAT(error_of("ada,jazz,3\n,rock,3\n"), Contains("ratings:2:1: user '', expected a name"));
  CHECK_THAT(error_of("a,\"b,3\n"), Contains("a quote that begins a field does not end in the line"));
}

TEST_CASE("a separator in quotes separates nothing") {
  CHECK(find_separator("\"a;b\",\"c|d\",5") == ",");
  CHECK(find_separator("\"a\tb\" c 5") == " ");
  CHECK(find_separator("5\" pipe;x;1") == ";");
  CHECK(ratings_in("\"a;b\",\"c\",5\n") == "a;b c 5");
}

TEST_CASE("headers that are skipped or read as ratings are a warning") {
  const auto warnings = [](const std::string& content, const RatingFileOptions& options) {
    const TemporaryDirectory directory;
    RatingIds ids;
    std::string text;
    for (const std::string& warning :
         read_ratings(directory.write("ratings", content), ids, options).warnings)
      text += warning + "\n";
    return text;
  };
  CHECK_THAT(warnings("kunde,artikel\n1,2\n3,4\n", {.columns = {"1", "2"}}),
             Contains("the first line, 'kunde artikel', is read as a rating"));
  CHECK(warnings("ada,jazz\nbob,rock\n1,2\n", {.columns = {"1", "2"}}).empty());
  CHECK_THAT(warnings("kunde,artikel,note\n1,2,3\n", {.columns = {"1", "2", "3"}}),
             Contains("the first line is taken as a header"));
  CHECK(warnings("who,what,how\n1,2,3\n", {.columns = {"who", "what", "how"}}).empty());
  // A rating that is missing makes no header.
  CHECK_THAT(error_of("ada,x,\nbob,y,3\n"), Contains("ratings:1:7: rating ''"));
  CHECK(ratings_in("Name,Info,Score2\nada,x,3\n") == "ada x 3");
}

TEST_CASE("every part of a file takes ids as its first rating does") {
  const TemporaryDirectory directory;
  for (const std::string header : {"", "who,what,stars\n"}) {
    const std::string path = directory.write("ratings", header + "a,b,1\n1,c,2\nx,d,3\n2,3,4\ny,e,5\n");
    std::size_t cells = 0;
    for (std::uint32_t part = 0; part < 5; ++part) {
      RatingIds ids;
      cells += read_ratings(path, ids, {.part = {part, 5}}).cells.size();
      CHECK(ids.users.kind() == IdKind::names);
    }
    CHECK(cells == 5);
  }
}

TEST_CASE("names are sorted by their bytes, and a second file continues the rows of the first") {
  const TemporaryDirectory directory;
  RatingIds ids;
  read_ratings(directory.write("one", "eve jazz 1\nada rock 2\neve rock 3\n"), ids);
  const CoordinateMatrix second = read_ratings(directory.write("two", "bob jazz 1\nada 17 2\n"), ids);
  CHECK(second.cells == std::vector<Cell>{{2, 0, 1}, {1, 2, 2}});
  CHECK(second.rows == 3);
  CHECK(ids.users.sort() == std::vector<RowIds::Index>{2, 0, 1});
  CHECK(ids.users.text(0) == "ada");
  CHECK(ids.users.text(2) == "eve");
  CHECK(ids.users.names().count(2) == 2);
  CHECK(ids.users.ids().empty());
  CHECK(ids.items.sort() == std::vector<RowIds::Index>{1, 2, 0});
}
