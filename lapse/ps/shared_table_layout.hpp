// Where the parts of a table lie in the memory that the ranks of a domain share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace lapse {

//     | words of all keys | owners of keys at home here, notice | slots of member 0 | slots of member 1 | … |
//
// Notice: 1 once a member has told that the slots no longer fit.
//
// The slots of a member are those that it gives out: to the keys that it serves, of which the domain may come
// to own all. A pure function of its arguments, equal on all members.
struct SharedTableLayout {
  using Notice = std::atomic<std::uint32_t>;
  static constexpr std::size_t kPageBytes = 4096;
  // Each member's slots begin at a multiple of so many units, and so at a page boundary.
  static constexpr std::uint64_t unit_alignment(std::size_t unit_bytes) {
    return kPageBytes / std::gcd(kPageBytes, unit_bytes);
  }

  // What a table asks for.
  struct Wish {
    std::uint64_t keys = 0;
    std::uint64_t home_keys = 0;  // of the domain
    std::size_t unit_bytes = 0;
    std::vector<std::uint64_t> units;  // by member: for all keys that it serves
  };
  struct Part {
    std::uint64_t first_unit = 0;
    std::uint64_t units = 0;  // as many as there is room for
    // The same for slots in the member's private memory, of which there may be as many as wished.
    std::uint64_t first_private_unit = 0;
    std::uint64_t private_units = 0;
  };

  // Words and owners, and slots as far as they fit into `most_bytes`; each member gets its share of what
  // there is. most_bytes is at least least_bytes(wish).
  static SharedTableLayout plan(const Wish& wish, std::size_t most_bytes);
  // For words and owners alone.
  static std::size_t least_bytes(const Wish& wish);
  // Whether slots can be numbered at all.
  static bool is_possible(const Wish& wish);

  std::size_t words_bytes = 0;
  std::size_t owners_offset = 0;
  std::size_t slots_offset = 0;
  std::size_t slots_bytes = 0;
  std::vector<Part> parts;  // by member
  bool complete = true;     // all slots fit

  // At the end of the owners' pages.
  std::size_t notice_offset() const { return slots_offset - sizeof(Notice); }
  std::size_t total_bytes() const { return slots_offset + slots_bytes; }
};

}  // namespace lapse
