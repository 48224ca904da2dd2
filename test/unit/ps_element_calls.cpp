#include "test/support/element_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::ElementCalls;

namespace {

// An update whose first elements are zero.
std::vector<float> update(std::size_t elements) {
  std::vector<float> values(elements + 10, 1);
  std::fill_n(values.begin(), 10, 0.0F);
  return values;
}

}  // namespace

TEST_CASE("An update that two runs share is applied in parts") {
  constexpr std::size_t kMaxRun = ElementPairs::kMaxRun;
  const std::vector<float> whole = update(kMaxRun);
  const std::vector<float> longer = update(kMaxRun + 1);
  const std::vector<float> half = update(kMaxRun / 2);
  const std::vector<float> more = update(kMaxRun / 2 + 1);
  const auto add = [](ElementCalls<float>& calls, std::uint64_t key, const std::vector<float>& values) {
    return calls.add(Key(key), std::span(values));
  };

  ElementCalls<float> one;
  CHECK(add(one, 1, whole));
  CHECK(add(one, 1, half));
  CHECK(add(one, 1, half));
  CHECK(add(one, 1, more));
  CHECK_FALSE(add(one, 1, more));
  CHECK(one.size() == 3 * kMaxRun + 2);

  ElementCalls<float> several;
  CHECK(add(several, 1, more));
  CHECK(add(several, 2, more));
  CHECK(add(several, 1, more));
  CHECK_FALSE(add(several, 1, more));
  CHECK_FALSE(add(several, 2, longer));
}
