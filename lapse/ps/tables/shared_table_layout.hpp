// Where the parts of a table are stored in the memory that the ranks of a domain share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace lapse {

//     | slot words of all keys | owners, notified | dirty set | slots of member 0 | slots of member 1 | … |
//
// Owners: of the keys at home in the domain. Notified: 1 once a member has reported that its slots do not
// fit. The dirty set, of the slots of all members, is there only where keys can have copies.
//
// The slots of a member are those that it gives out: to the keys that it serves, of which the domain may come
// to own all. A pure function of its arguments, equal on all members.
struct SharedTableLayout {
  using Notified = std::atomic<std::uint32_t>;
  static constexpr std::size_t kPageBytes = 4096;
  // Each member's slots begin at a multiple of so many units, and so at a page boundary.
  static constexpr std::uint64_t unit_alignment(std::size_t unit_bytes) {
    return kPageBytes / std::gcd(kPageBytes, unit_bytes);
  }

  // What a table asks for.
  struct Request {
    std::uint64_t keys = 0;
    std::uint64_t home_keys = 0;  // of the domain
    std::size_t unit_bytes = 0;
    bool replicable = false;           // keys can have copies on other domains
    std::vector<std::uint64_t> units;  // by member: for all keys that it serves
  };
  struct Part {
    std::uint64_t first_unit = 0;
    std::uint64_t units = 0;  // as many as there is room for
    // Slots in the member's private memory, of which there may be as many as requested.
    std::uint64_t first_private_unit = 0;
    std::uint64_t private_units = 0;
  };

  // Slot words, owners and dirty set, and slots as far as they fit into `max_bytes`; each member gets its
  // share of the rest. max_bytes is at least min_bytes(request).
  static SharedTableLayout plan(const Request& request, std::size_t max_bytes);
  // For slot words, owners and dirty set alone.
  static std::size_t min_bytes(const Request& request);
  // Whether slots can be numbered at all.
  static bool is_possible(const Request& request);

  std::size_t word_bytes = 0;
  std::size_t owners_offset = 0;
  std::size_t dirty_offset = 0;
  std::uint64_t dirty_units = 0;  // 0 where keys have no copies
  std::size_t slots_offset = 0;
  std::size_t slots_bytes = 0;
  std::vector<Part> parts;  // by member
  bool complete = true;     // all slots fit

  // At the end of the owners' pages.
  std::size_t notified_offset() const { return dirty_offset - sizeof(Notified); }
  std::size_t total_bytes() const { return slots_offset + slots_bytes; }
};

}  // namespace lapse
