// The layout of a table in the memory that the ranks of a domain share.
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
// fit. The dirty set covers the slots of all members; it exists only if keys can have replicas.
//
// A member allocates its slots to the keys that it serves; the domain may come to own all of them. The layout
// is a pure function of its arguments, equal on all members.
struct SharedTableLayout {
  using Notified = std::atomic<std::uint32_t>;
  static constexpr std::size_t kPageBytes = 4096;
  // Each member's slots begin at a multiple of this number of units, and so at a page boundary.
  static constexpr std::uint64_t unit_alignment(std::size_t unit_bytes) {
    return kPageBytes / std::gcd(kPageBytes, unit_bytes);
  }

  // The needs of a table.
  struct Request {
    std::uint64_t keys = 0;
    std::uint64_t home_keys = 0;  // of the domain
    std::size_t unit_bytes = 0;
    bool replicable = false;           // keys can have replicas on other domains
    std::vector<std::uint64_t> units;  // by member: for all keys that it serves
  };
  struct Part {
    std::uint64_t first_unit = 0;
    std::uint64_t units = 0;  // as many as fit
    // Slots in the member's private memory, at most as many as requested.
    std::uint64_t first_private_unit = 0;
    std::uint64_t private_units = 0;
  };

  // Lays out slot words, owners and dirty set, and the slots that fit into `max_bytes`; each member gets its
  // share of the rest. Requires max_bytes >= min_bytes(request).
  static SharedTableLayout plan(const Request& request, std::size_t max_bytes);
  // Bytes of slot words, owners and dirty set alone.
  static std::size_t min_bytes(const Request& request);
  // Returns true if slot numbers suffice for all slots.
  static bool is_possible(const Request& request);

  std::size_t word_bytes = 0;
  std::size_t owners_offset = 0;
  std::size_t dirty_offset = 0;
  std::uint64_t dirty_units = 0;  // 0 if keys have no replicas
  std::size_t slots_offset = 0;
  std::size_t slots_bytes = 0;
  std::vector<Part> parts;  // by member
  bool complete = true;     // all slots fit

  // The flag is at the end of the owners' pages.
  std::size_t notified_offset() const { return dirty_offset - sizeof(Notified); }
  std::size_t total_bytes() const { return slots_offset + slots_bytes; }
};

}  // namespace lapse
