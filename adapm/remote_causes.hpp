// Why workers accessed keys in other domains although they announce their accesses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace adapm {

enum class RemoteCause : std::uint8_t {
  never_announced,
  before_start,
  after_end,
  announced_late,
  on_its_way,
  older_copy,
  not_given,
  beginning,
};

struct RemoteCauseName {
  RemoteCause cause;
  std::string_view name;
  std::string_view meaning;
  std::string_view advice;
};

// clang-format off
inline constexpr std::array kRemoteCauses{
    RemoteCauseName{RemoteCause::never_announced, "never_announced", "in no intent of the worker", "announce the keys of the table with intent() before they are accessed"},
    RemoteCauseName{RemoteCause::before_start, "before_start", "only in intents for later clocks", "let intents start at the clock of the access, or call advance_clock once for each step"},
    RemoteCauseName{RemoteCause::after_end, "after_end", "in an intent that had ended", "let intents end after the clock of the last access"},
    RemoteCauseName{RemoteCause::announced_late, "announced_late", "in an intent that was signaled just before", "announce keys more clocks ahead"},
    RemoteCauseName{RemoteCause::on_its_way, "on_its_way", "asked for, and not here yet", "announce keys more clocks ahead"},
    RemoteCauseName{RemoteCause::older_copy, "older_copy", "replicated here, in an older version than the worker has seen or written", "avoid set, call, and pushes that cannot be merged, of keys with replicas"},
    RemoteCauseName{RemoteCause::not_given, "not_given", "wanted, but not moved and not replicated", "let the table have replicas (consistency, update rule, technique), and give it memory"},
    RemoteCauseName{RemoteCause::beginning, "beginning", "in the first clocks of a phase", "make phases longer: their first accesses come before anything can be moved"},
};
// clang-format on

// Keys of one table, by cause. Plain data. Estimates: few of many accesses are examined.
struct LAPSE_EXPORT RemoteCauses {
  std::string table;
  std::array<std::uint64_t, kRemoteCauses.size()> keys{};

  std::uint64_t& operator[](RemoteCause cause) { return keys[static_cast<std::size_t>(cause)]; }
  std::uint64_t operator[](RemoteCause cause) const { return keys[static_cast<std::size_t>(cause)]; }
  std::uint64_t sum() const;
  // The most frequent one.
  const RemoteCauseName& largest() const;
  bool operator==(const RemoteCauses&) const = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& table;
    for (std::uint64_t& count : keys) archive& count;
  }
};

}  // namespace adapm
