// Groups records for several ranks, which are added in any order and sent rank by rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/outbox.hpp"

namespace lapse {

// With it, a few records for each of many ranks need one frame and one comparison of headers per rank. The
// records for one rank keep their order. Thread safety: the holder of the progress lock.
template <class Record>
class RecordsByRank {
 public:
  explicit RecordsByRank(std::int32_t ranks) : lists_(static_cast<std::size_t>(ranks)) {}

  void add(Rank to, const Record& record) LAPSE_REQUIRES(progress_role) {
    List& list = lists_[to.index()];
    const auto position = static_cast<std::uint32_t>(entries_.size());
    if (list.count++ == 0) {
      list.first = position;
      ranks_.push_back(to);
    } else {
      entries_[list.last].next = position;
    }
    list.last = position;
    entries_.push_back({record, kNone});
  }
  // Appends all records, in frames with this header, and removes them.
  void append_to(Outbox& outbox, FrameHeader header) LAPSE_REQUIRES(progress_role) {
    header.record_bytes = sizeof(Record);
    for (const Rank rank : ranks_) {
      List& list = lists_[rank.index()];
      std::uint32_t position = list.first;
      while (list.count > 0) {
        const auto [records, count] = outbox.append_run(rank, header, list.count);
        for (std::uint32_t i = 0; i < count; ++i) {
          std::memcpy(records + i * sizeof(Record), &entries_[position].record, sizeof(Record));
          position = entries_[position].next;
        }
        list.count -= count;
      }
    }
    clear();
  }
  // Drops records that were added but not appended, because of an error.
  void clear() LAPSE_REQUIRES(progress_role) {
    for (const Rank rank : ranks_) lists_[rank.index()].count = 0;
    ranks_.clear();
    entries_.clear();
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Entry {
    Record record;
    std::uint32_t next;  // of the same rank
  };
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t count = 0;
  };

  std::vector<List> lists_;     // by rank
  std::vector<Rank> ranks_;     // that have records, in the order of their first ones
  std::vector<Entry> entries_;  // in the order of add
};

}  // namespace lapse
