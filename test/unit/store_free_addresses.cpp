#include "lapse/store/memory/free_addresses.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "lapse/store/memory/region.hpp"
#include "test/support/catch.hpp"

using lapse::AddressRange;
using lapse::find_free_addresses;
using lapse::kHugePageBytes;

namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kGigabyte = std::size_t{1} << 30;
constexpr std::size_t kTerabyte = std::size_t{1} << 40;

// A program at a low address: the largest gap is between its heap and the libraries.
const std::string kLowProgram =
    "00400000-00401000 r-xp 00000000 08:01 42                  /usr/bin/program\n"
    "01000000-01021000 rw-p 00000000 00:00 0                   [heap]\n"
    "7f0000000000-7f0000022000 r--p 00000000 08:01 43          /usr/lib/libc.so.6\n"
    "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0           [stack]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n";

std::optional<std::uintptr_t> find(const std::string& maps, std::size_t bytes,
                                   const std::vector<AddressRange>& claimed = {}) {
  std::istringstream in(maps);
  return find_free_addresses(in, claimed, bytes);
}

// Claims `count` ranges of `bytes` in an empty program, with a page on either side. Returns how many fit.
std::size_t claim(std::vector<AddressRange>& claimed, std::size_t bytes, std::size_t count) {
  constexpr std::size_t kPage = 4096;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = find(kLowProgram, bytes, claimed);
    if (!found) return i;
    const AddressRange added{*found - kPage, *found + bytes + kPage};
    for (const AddressRange& other : claimed) REQUIRE((added.end <= other.begin || other.end <= added.begin));
    claimed.push_back(added);
  }
  return count;
}

}  // namespace

TEST_CASE("Free addresses are found in the middle of the largest gap, away from heap and mappings") {
  const auto found = find(kLowProgram, 16 * kGigabyte);
  REQUIRE(found);
  CHECK(*found % kHugePageBytes == 0);
  CHECK(*found > 60 * kTerabyte);
  CHECK(*found < 66 * kTerabyte);
  // A program at a high address: the largest gap is below it.
  const std::string high =
      "555555554000-555555556000 r--p 00000000 08:01 42          /usr/bin/program\n"
      "555555577000-555555598000 rw-p 00000000 00:00 0           [heap]\n"
      "7ffff7c00000-7ffff7c28000 r--p 00000000 08:01 43          /usr/lib/libc.so.6\n"
      "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0           [stack]\n";
  const auto below = find(high, kGigabyte);
  REQUIRE(below);
  CHECK(*below > 40 * kTerabyte);
  CHECK(*below < 44 * kTerabyte);
}

TEST_CASE("Many ranges, large and small, avoid each other and lie close together") {
  std::vector<AddressRange> claimed;
  CHECK(claim(claimed, 16 * kGigabyte, 500) == 500);
  CHECK(claim(claimed, kMegabyte, 500) == 500);
  for (const AddressRange& range : claimed) {
    CHECK(range.begin > 58 * kTerabyte);
    CHECK(range.end < 68 * kTerabyte);
  }
  // They leave only two gaps, of nearly 60 TB.
  CHECK(claim(claimed, 30 * kTerabyte, 3) == 2);
  CHECK(claim(claimed, kTerabyte, 60) > 40);
}

TEST_CASE("Of 127 TB, ranges can claim nearly all; half the size of one is left beside other mappings") {
  std::vector<AddressRange> claimed;
  const std::size_t count = claim(claimed, kTerabyte, 200);
  CHECK(count > 120);
  CHECK_FALSE(find(kLowProgram, kTerabyte, claimed));
  for (const AddressRange& range : claimed) {
    CHECK(range.begin > kTerabyte / 2);
    CHECK(range.end < 0x7f0000000000 - kTerabyte / 2);
  }
  // Released ranges are found again.
  const AddressRange returned = claimed[7];
  claimed.erase(claimed.begin() + 7);
  const auto found = find(kLowProgram, kTerabyte - 4 * kHugePageBytes, claimed);
  REQUIRE(found);
  CHECK((*found > returned.begin && *found < returned.end));
}

TEST_CASE("A mapping within a claimed range, such as what has been committed, changes nothing") {
  const std::vector<AddressRange> claimed{{0x300000000000, 0x500000000000}};
  const auto found = find(
      "01000000-01021000 rw-p 00000000 00:00 0 [heap]\n"
      "300000000000-300000001000 ---p 00000000 00:00 0\n"
      "310000000000-310000001000 rw-p 00000000 00:00 0\n"
      "4ffffffff000-500000000000 ---p 00000000 00:00 0\n"
      "7f0000000000-7f0000022000 r--p 00000000 08:01 43 /usr/lib/libc.so.6\n",
      kGigabyte, claimed);
  REQUIRE(found);
  CHECK((*found < 0x300000000000 - kGigabyte || *found > 0x500000000000));
}

TEST_CASE("No gap of twice the size, or no mappings to read: nothing") {
  const std::string crowded =
      "00001000-200000000000 rw-p 00000000 00:00 0\n"
      "200100000000-7fffffff0000 rw-p 00000000 00:00 0\n";
  CHECK(find(crowded, kGigabyte));
  CHECK_FALSE(find(crowded, 3 * kGigabyte));
  CHECK_FALSE(find(kLowProgram, ~std::size_t{0}));
  CHECK_FALSE(find("", 1, {{1, 2}, {0x300000000000, 0x300000001000}}));
  CHECK_FALSE(find("no such lines\n", 1));
}
