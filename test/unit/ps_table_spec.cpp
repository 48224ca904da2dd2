#include "lapse/ps/tables/table_spec.hpp"

#include <functional>
#include <limits>

#include "lapse/core/error.hpp"
#include "lapse/ps/agreement/archive.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using lapse::ConfigurationError;
using lapse::ElementType;
using lapse::from_archive;
using lapse::HomeMapKind;
using lapse::Initialiser;
using lapse::Key;
using lapse::NotFinite;
using lapse::TableOptions;
using lapse::TableSpec;
using lapse::to_archive;
using lapse::UpdateRule;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

TableSpec example_spec() {
  TableSpec spec = TableSpec::from({.name = "factors",
                                    .keys = 1000,
                                    .length = 33,
                                    .initialiser = Initialiser::uniform(-0.1, 0.1),
                                    .seed = 7,
                                    .home = HomeMapKind::custom,
                                    .update_rule = UpdateRule::assign()},
                                   ElementType::float64, false);
  spec.home_fingerprint = 0x1234'5678'9abc'def0U;
  return spec;
}

}  // namespace

TEST_CASE("A specification has what the options contain") {
  const TableSpec spec = example_spec();
  CHECK(spec.name == "factors");
  CHECK(spec.keys == 1000);
  CHECK(spec.length == 33);
  CHECK(spec.element == "double");
  CHECK(spec.initialiser == "uniform(-0.1, 0.1)");
  CHECK(spec.seed == 7);
  CHECK(spec.home == "custom");
  CHECK(spec.update_rule == "assign");
  CHECK_FALSE(spec.location_caches);
}

TEST_CASE("The name of a table is a text of limited length") {
  const auto check = [](const std::string& name) {
    TableSpec::check({.name = name, .keys = 1}, ElementType::float32);
  };
  check("na\xc3\xafve");
  CHECK_THROWS_AS(check("bad\xff"), ConfigurationError);
  CHECK(thrown_text<ConfigurationError>([&] { check("bad\xff!"); }) ==
        "the name of table 'bad?!' is not UTF-8: byte 4 is 0xff");
  check(std::string(65536, 'a'));
  CHECK(
      contains(thrown_text<ConfigurationError>([&] { check(std::string(65537, 'a')); }), "has 65537 bytes"));
}

TEST_CASE("A specification has the limits of a sparse table") {
  const TableSpec spec =
      TableSpec::from({.name = "words", .sparse = true, .max_keys = 7, .memory_limit_bytes = 1 << 20},
                      ElementType::float32, true);
  CHECK(spec.max_keys == "7");
  CHECK(spec.memory_limit == "1048576");
}

TEST_CASE("A specification has the limits of pushes, with every digit") {
  const TableSpec spec = TableSpec::from(
      {.name = "t", .keys = 1, .not_finite = NotFinite::refuse, .max_push_norm = 0.30000000000000004},
      ElementType::float32, true);
  CHECK(spec.not_finite == "refuse");
  CHECK(spec.max_push_norm == "0.30000000000000004");
}

TEST_CASE("A specification survives encoding") {
  const TableSpec copy = from_archive<TableSpec>(to_archive(example_spec()));
  CHECK_FALSE(copy.difference(example_spec()).has_value());
  CHECK(copy.home_fingerprint == example_spec().home_fingerprint);
  CHECK(to_archive(copy) == to_archive(example_spec()));
}

TEST_CASE("Every field is compared, and the difference names it and both values") {
  struct Change {
    std::string what;
    std::function<void(TableSpec&)> apply;
  };
  const std::vector<Change> changes{
      {"name is 'factors' against 'other'", [](TableSpec& spec) { spec.name = "other"; }},
      {"number of keys is '1000' against '1001'", [](TableSpec& spec) { spec.keys = 1001; }},
      {"length is '33' against '34'", [](TableSpec& spec) { spec.length = 34; }},
      {"max_keys is 'none' against '10'", [](TableSpec& spec) { spec.max_keys = "10"; }},
      {"memory_limit_bytes is 'none' against '1000'", [](TableSpec& spec) { spec.memory_limit = "1000"; }},
      {"element type is 'double' against 'float'", [](TableSpec& spec) { spec.element = "float"; }},
      {"initialiser is 'uniform(-0.1, 0.1)' against 'zero'",
       [](TableSpec& spec) { spec.initialiser = "zero"; }},
      {"seed is '7' against '8'", [](TableSpec& spec) { spec.seed = 8; }},
      {"home map is 'custom' against 'hash'", [](TableSpec& spec) { spec.home = "hash"; }},
      {"fingerprint of the custom home map", [](TableSpec& spec) { ++spec.home_fingerprint; }},
      {"update rule is 'assign' against 'add'", [](TableSpec& spec) { spec.update_rule = "add"; }},
      {"not_finite is 'allow' against 'count'", [](TableSpec& spec) { spec.not_finite = "count"; }},
      {"max_push_norm is 'none' against '0.5'", [](TableSpec& spec) { spec.max_push_norm = "0.5"; }},
      {"location caches is 'false' against 'true'", [](TableSpec& spec) { spec.location_caches = true; }},
  };
  for (const Change& change : changes) {
    TableSpec other = example_spec();
    change.apply(other);
    const auto difference = example_spec().difference(from_archive<TableSpec>(to_archive(other)));
    REQUIRE(difference.has_value());
    CHECK(contains(*difference, change.what));
  }
}

TEST_CASE("Sizes that no table can have are refused, naming table and bounds") {
  const auto refused = [](const TableOptions& options, ElementType type, std::string_view part) {
    const std::string text = thrown_text<ConfigurationError>([&] { TableSpec::check(options, type); });
    CHECK(contains(text, "'t'"));
    CHECK(contains(text, part));
  };
  refused({.name = "t", .keys = 0}, ElementType::float32, "0 keys");
  refused({.name = "t", .keys = (std::uint64_t{1} << 40) + 1}, ElementType::float32, "1 to 1099511627776");
  refused({.name = "t", .keys = 1, .length = 0}, ElementType::float32, "0 elements");
  refused({.name = "t", .keys = 1, .length = (std::size_t{1} << 28) + 1}, ElementType::float32,
          "1 to 268435456");
  refused({.name = "t", .keys = 1, .length = (std::size_t{1} << 27) + 1}, ElementType::int64,
          "1 to 134217728");
  refused({.name = "t", .keys = 1, .length = ~std::size_t{0}}, ElementType::float32, "elements");
  refused({.name = "t", .keys = 1, .home = HomeMapKind::custom}, ElementType::float32, "custom home map");
  CHECK_NOTHROW(TableSpec::check({.name = "t", .keys = 1}, ElementType::float32));
  CHECK_THROWS_AS(TableSpec::check({.name = "t", .keys = 1, .initialiser = Initialiser::uniform(2, 1)},
                                   ElementType::float32),
                  ConfigurationError);
}

TEST_CASE("Limits of pushes are positive numbers of floating-point tables") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refused = [](const TableOptions& options, ElementType type, std::string_view part) {
    const std::string text = thrown_text<ConfigurationError>([&] { TableSpec::check(options, type); });
    INFO(text);
    CHECK(contains(text, "table 't'"));
    CHECK(contains(text, part));
  };
  const auto limited = [](double norm) {
    return TableOptions{.name = "t", .keys = 1, .max_push_norm = norm};
  };
  for (const double norm : {0.0, -0.0, -1.0, nan, infinity, -infinity}) {
    refused(limited(norm), ElementType::float32, "max_push_norm is ");
    refused(limited(norm), ElementType::float64, "expected a finite number above 0");
  }
  // As a float the number would be 0, or infinite.
  refused(limited(1e-60), ElementType::float32, "max_push_norm is 1e-60 for elements of type float");
  refused(limited(1e60), ElementType::float32, "max_push_norm is 1e+60");
  CHECK_NOTHROW(TableSpec::check(limited(1e-60), ElementType::float64));
  CHECK_NOTHROW(TableSpec::check(limited(1e-30), ElementType::float32));
  for (const ElementType type : {ElementType::int32, ElementType::int64}) {
    refused(limited(1), type, "max_push_norm needs elements of type float or double");
    for (const NotFinite choice : {NotFinite::count, NotFinite::refuse})
      refused({.name = "t", .keys = 1, .not_finite = choice}, type,
              "not_finite needs elements of type float");
    CHECK_NOTHROW(TableSpec::check({.name = "t", .keys = 1, .not_finite = NotFinite::allow}, type));
  }
  refused({.name = "t", .keys = 1, .not_finite = static_cast<NotFinite>(7)}, ElementType::float32,
          "not_finite is 7: expected allow, count or refuse");
}
