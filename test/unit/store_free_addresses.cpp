#include "lapse/store/free_addresses.hpp"

#include <sstream>

#include "lapse/store/region.hpp"
#include "test/support/catch.hpp"

using lapse::find_free_addresses;
using lapse::kHugePageBytes;

namespace {

constexpr std::size_t kGigabyte = std::size_t{1} << 30;
constexpr std::size_t kTerabyte = std::size_t{1} << 40;

std::optional<std::uintptr_t> find(const std::string& maps, std::size_t bytes) {
  std::istringstream in(maps);
  return find_free_addresses(in, bytes);
}

}  // namespace

TEST_CASE("Free addresses are found in the middle of the largest gap, away from heap and mappings") {
  // A program at a low address: the largest gap is between its heap and the libraries.
  const std::string fixed =
      "00400000-00401000 r-xp 00000000 08:01 42                  /usr/bin/program\n"
      "01000000-01021000 rw-p 00000000 00:00 0                   [heap]\n"
      "7f0000000000-7f0000022000 r--p 00000000 08:01 43          /usr/lib/libc.so.6\n"
      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0           [stack]\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n";
  const auto found = find(fixed, 16 * kGigabyte);
  REQUIRE(found);
  CHECK(*found % kHugePageBytes == 0);
  CHECK(*found > 60 * kTerabyte);
  CHECK(*found < 66 * kTerabyte);
  // One at a high address: the largest gap is below it.
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

TEST_CASE("Regions that were placed before are avoided, also the unused part between their marks") {
  const std::string fixed =
      "01000000-01021000 rw-p 00000000 00:00 0 [heap]\n"
      "3f80007fe000-3f80007ff000 ---p 00000000 00:00 0\n"
      "3f8400800000-3f8400801000 ---p 00000000 00:00 0\n"
      "7f0000000000-7f0000022000 r--p 00000000 08:01 43 /usr/lib/libc.so.6\n";
  const auto found = find(fixed, 16 * kGigabyte);
  REQUIRE(found);
  CHECK((*found + 16 * kGigabyte < 0x3f80007fe000 || *found > 0x3f8400801000));
}

TEST_CASE("No gap of twice the size, or no mappings to read: nothing") {
  const std::string crowded =
      "00001000-200000000000 rw-p 00000000 00:00 0\n"
      "200100000000-7fffffff0000 rw-p 00000000 00:00 0\n";
  CHECK(find(crowded, kGigabyte));
  CHECK_FALSE(find(crowded, 3 * kGigabyte));
  CHECK_FALSE(find("", 1));
  CHECK_FALSE(find("no such lines\n", 1));
}
