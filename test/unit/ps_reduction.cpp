#include "lapse/ps/access/reduction.hpp"

#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using lapse::Bytes;
using lapse::CollectiveMismatch;
using lapse::combine_contributions;
using lapse::make_contribution;
using lapse::ProtocolError;
using lapse::Reduce;
using lapse::ReductionHeader;
using lapse::result_elements;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

template <class T>
ReductionHeader reduction(Reduce reduce, std::size_t elements) {
  ReductionHeader header;
  header.kind =
      std::is_same_v<T, double> ? ReductionHeader::Kind::reduce_double : ReductionHeader::Kind::reduce_int64;
  header.reduce = reduce;
  header.elements = elements;
  return header;
}

template <class T>
Bytes contribution(Reduce reduce, const std::vector<T>& values, std::uint64_t worker = 0) {
  ReductionHeader header = reduction<T>(reduce, values.size());
  header.rank = static_cast<std::int32_t>(worker) / 2;
  header.worker = worker;
  return make_contribution(header, std::as_bytes(std::span(values)));
}

template <class T>
std::vector<T> combined(Reduce reduce, const std::vector<std::vector<T>>& all) {
  Bytes into = contribution(reduce, all[0]);
  for (std::size_t i = 1; i < all.size(); ++i) combine_contributions(into, contribution(reduce, all[i]));
  const auto bytes = result_elements(into, reduction<T>(reduce, all[0].size()));
  REQUIRE(bytes.size() == all[0].size() * sizeof(T));
  std::vector<T> values(all[0].size());
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

ReductionHeader broadcast(std::uint64_t root, std::uint64_t bytes) {
  ReductionHeader header;
  header.kind = ReductionHeader::Kind::broadcast;
  header.root = root;
  header.elements = bytes;
  return header;
}

}  // namespace

TEST_CASE("Sums, minima and maxima are taken element by element") {
  const std::vector<std::vector<double>> numbers{{1, -5, 0.5}, {2, 7, 0.25}, {-4, 0, 1}};
  CHECK(combined<double>(Reduce::sum, numbers) == std::vector<double>{-1, 2, 1.75});
  CHECK(combined<double>(Reduce::min, numbers) == std::vector<double>{-4, -5, 0.25});
  CHECK(combined<double>(Reduce::max, numbers) == std::vector<double>{2, 7, 1});
  constexpr std::int64_t kLarge = (std::int64_t{1} << 60) + 1;
  const std::vector<std::vector<std::int64_t>> integers{{kLarge, 1}, {1, -1}};
  CHECK(combined<std::int64_t>(Reduce::sum, integers) == std::vector<std::int64_t>{kLarge + 1, 0});
  CHECK(combined<std::int64_t>(Reduce::sum, {{std::numeric_limits<std::int64_t>::max()}, {1}}) ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  CHECK(combined<std::int64_t>(Reduce::min, integers) == std::vector<std::int64_t>{1, -1});
  CHECK(combined<std::int64_t>(Reduce::max, integers) == std::vector<std::int64_t>{kLarge, 1});
  CHECK(combined<double>(Reduce::sum, {{}, {}}).empty());
}

TEST_CASE("Only the root gives bytes to a broadcast, whatever the order of combination") {
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}};
  Bytes root_first = make_contribution(broadcast(3, 2), bytes);
  combine_contributions(root_first, make_contribution(broadcast(3, 2), {}));
  Bytes root_last = make_contribution(broadcast(3, 2), {});
  combine_contributions(root_last, make_contribution(broadcast(3, 2), {}));
  combine_contributions(root_last, make_contribution(broadcast(3, 2), bytes));
  for (const Bytes& result : {root_first, root_last}) {
    const auto elements = result_elements(result, broadcast(3, 2));
    CHECK(std::vector<std::byte>(elements.begin(), elements.end()) == bytes);
  }
}

TEST_CASE("Different calls are a CollectiveMismatch that describes both") {
  Bytes barrier = make_contribution({}, {});
  const Bytes sum = contribution<double>(Reduce::sum, {1, 2});
  const std::string text = thrown_text<CollectiveMismatch>([&] { combine_contributions(barrier, sum); });
  CHECK(contains(text, "barrier"));
  CHECK(contains(text, "all_reduce sum of 2 doubles"));

  const auto differ = [](Bytes a, const Bytes& b) {
    CHECK_THROWS_AS(combine_contributions(a, b), CollectiveMismatch);
  };
  differ(sum, contribution<double>(Reduce::max, {1, 2}));
  differ(sum, contribution<double>(Reduce::sum, {1, 2, 3}));
  differ(sum, contribution<std::int64_t>(Reduce::sum, {1, 2}));
  differ(make_contribution(broadcast(0, 4), {}), make_contribution(broadcast(1, 4), {}));
  differ(make_contribution(broadcast(0, 4), {}), make_contribution(broadcast(0, 5), {}));
}

TEST_CASE("A mismatch names both workers with their calls, in the order of the workers") {
  const Bytes sum = contribution<double>(Reduce::sum, {1, 2, 3}, 0);
  const Bytes max = contribution<double>(Reduce::max, {1, 2, 3}, 3);
  for (const bool swapped : {false, true}) {
    Bytes into = swapped ? max : sum;
    CHECK(thrown_text<CollectiveMismatch>([&] { combine_contributions(into, swapped ? sum : max); }) ==
          "workers made different collective calls: worker 0 on rank 0: all_reduce sum of 3 doubles; worker "
          "3 on "
          "rank 1: all_reduce max of 3 doubles");
  }
}

TEST_CASE("Contributions with a length that does not fit their header are refused") {
  const Bytes good = contribution<double>(Reduce::sum, {1, 2});
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    Bytes into = good;
    CHECK_THROWS_AS(combine_contributions(into, cut), ProtocolError);
    Bytes from_cut = cut;
    CHECK_THROWS_AS(combine_contributions(from_cut, good), ProtocolError);
  }
  Bytes longer = good;
  longer.resize(longer.size() + 8);
  Bytes into = good;
  CHECK_THROWS_AS(combine_contributions(into, longer), ProtocolError);
}

TEST_CASE("The result of another call is refused, which may be longer than the worker has room for") {
  const Bytes result = contribution<double>(Reduce::sum, {1, 2, 3});
  CHECK(result_elements(result, reduction<double>(Reduce::sum, 3)).size() == 24);
  CHECK_THROWS_AS(result_elements(result, reduction<double>(Reduce::sum, 2)), ProtocolError);
  CHECK_THROWS_AS(result_elements(result, reduction<double>(Reduce::max, 3)), ProtocolError);
  CHECK_THROWS_AS(result_elements(result, reduction<std::int64_t>(Reduce::sum, 3)), ProtocolError);
  CHECK_THROWS_AS(result_elements(result, broadcast(0, 24)), ProtocolError);
  CHECK_THROWS_AS(result_elements(Bytes(3), reduction<double>(Reduce::sum, 3)), ProtocolError);
  CHECK_THROWS_AS(result_elements(make_contribution(broadcast(0, 4), {}), broadcast(0, 4)), ProtocolError);
}

TEST_CASE("Workers that have returned are no mismatch among themselves, but one for a call") {
  Bytes returned = lapse::make_returned(5, lapse::Rank(2));
  CHECK(lapse::is_returned(returned));
  combine_contributions(returned, lapse::make_returned(7, lapse::Rank(3)));
  CHECK(lapse::is_returned(returned));
  Bytes barrier = make_contribution({}, {});
  CHECK_FALSE(lapse::is_returned(barrier));
  const std::string expected =
      "worker 5 on rank 2 has returned from its function, while other workers wait for it in a collective "
      "call: worker 0 on rank 0: barrier";
  CHECK(
      contains(thrown_text<CollectiveMismatch>([&] { combine_contributions(returned, barrier); }), expected));
  CHECK(
      contains(thrown_text<CollectiveMismatch>([&] { combine_contributions(barrier, returned); }), expected));
}
