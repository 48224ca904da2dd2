// Tables of rows and columns: get, inc and clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/ps/elements.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

// How a RowTable keeps what its worker reads and changes.
struct RowCache {
  bool keeps_reads = false;          // an element that was read is read again only after the next clock
  std::size_t max_increments = 256;  // those of one worker that are collected before they are pushed; 0: none
};

// One worker's view of a table, with the calls of Petuum's tables (Wei et al., section 4.2): a row is a key,
// a column is an element of its value. The policy of the table says what a read shows (docs/consistency.md).
//
//     RowTable<float> weights(worker, table);
//     weights.inc(row, column, -rate * gradient);
//     const float weight = weights.get(row, column);
//     weights.clock();
//
// A worker always reads its own increments, also those that are collected. Those of others may be newer than
// the policy asks for. With keeps_reads, what was read is kept until the worker's clock advances or flush()
// is called: so call flush() before a sync_barrier, barrier or wait_sync, after which reads show more.
//
// Thread safety: the worker's thread. Call clock() or flush() before the object ends: what is collected is
// lost then.
template <Element T>
class RowTable {
 public:
  RowTable(Worker& worker, const Table<T>& table, const RowCache& cache = {})
      : worker_(&worker), table_(table), cache_(cache) {}
  // A copy would push what is collected once more.
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  // Throws what Worker::pull_elements and its wait throw.
  T get(Key row, std::uint32_t column) {
    drop_outdated();
    if (cache_.keeps_reads) {
      if (const auto found = reads_.find({row, column}); found != reads_.end()) return found->second;
    }
    T value{};
    worker_->pull_elements(table_, row, std::span(&column, 1), std::span(&value, 1)).wait();
    if (const auto found = increments_.find({row, column}); found != increments_.end())
      value += found->second;
    if (cache_.keeps_reads) reads_[{row, column}] = value;
    return value;
  }
  // Reads a whole row: table.length(row) elements. Is never taken from what was read before.
  void get_row(Key row, std::span<T> values) {
    worker_->pull(table_, row, values).wait();
    for (const auto& [place, delta] : increments_)
      if (place.row == row) values[place.column] += delta;
    for (auto& [place, value] : reads_)
      if (place.row == row) value = values[place.column];
  }
  // Adds delta to the element. Throws what Worker::push_elements throws; if that refuses the increments
  // collected so far, they stay collected.
  void inc(Key row, std::uint32_t column, T delta) {
    drop_outdated();
    // Also where the call throws, which names what is wrong.
    const bool exists = table_.handle().has(row) && column < table_.length(row);
    if (cache_.max_increments == 0 || !exists) {
      worker_->push_elements(table_, row, std::span(&column, 1), std::span<const T>(&delta, 1));
    } else {
      increments_[{row, column}] += delta;
    }
    if (cache_.keeps_reads) {
      if (const auto found = reads_.find({row, column}); found != reads_.end()) found->second += delta;
    }
    if (cache_.max_increments > 0 && increments_.size() >= cache_.max_increments) push();
  }
  // Pushes what is collected, and does not wait for the answers. What was read is read again.
  void flush() {
    push();
    reads_.clear();
  }
  // flush, then Worker::advance_clock. A worker with several tables calls flush() of the others before.
  void clock() {
    flush();
    worker_->advance_clock();
  }

 private:
  struct Place {
    Key row;
    std::uint32_t column;
    bool operator==(const Place&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Place& place) const {
      return static_cast<std::size_t>((place.row.value() * 0x9e3779b97f4a7c15 + place.column) *
                                      0xbf58476d1ce4e5b9);
    }
  };

  void push() {
    if (increments_.empty()) return;
    std::vector<std::pair<Place, T>> sorted(increments_.begin(), increments_.end());
    // Elements of one row travel together.
    std::ranges::sort(sorted, {},
                      [](const auto& one) { return std::pair(one.first.row.value(), one.first.column); });
    std::vector<Key> rows;
    std::vector<std::uint32_t> columns;
    std::vector<T> deltas;
    for (const auto& [place, delta] : sorted) {
      rows.push_back(place.row);
      columns.push_back(place.column);
      deltas.push_back(delta);
    }
    worker_->push_elements(table_, rows, columns, deltas);
    increments_.clear();
  }
  // The clock may have advanced by another table's call.
  void drop_outdated() {
    if (!cache_.keeps_reads || read_at_ == worker_->current_clock()) return;
    reads_.clear();
    read_at_ = worker_->current_clock();
  }

  Worker* worker_;
  Table<T> table_;
  RowCache cache_;
  std::unordered_map<Place, T, Hash> reads_;
  Clock read_at_ = Clock(0);  // the worker's clock at those reads
  std::unordered_map<Place, T, Hash> increments_;
};

}  // namespace lapse
