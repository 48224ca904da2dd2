#include "lapse/jobs/saved_rows.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace lapse {

namespace {

// Copies contiguous pieces of memory at once.
class PieceCopy {
 public:
  // Rows have `head_bytes` before their values, so the bytes after the last value are not copied.
  PieceCopy(CheckpointStaging& staging, std::size_t head_bytes)
      : staging_(staging), head_bytes_(head_bytes) {}

  // Returns where the copy of a row will be.
  const std::byte* add(const std::byte* row, std::size_t stride) {
    if (row != end_) {
      flush();
      begin_ = end_ = row;
      to_ = staging_.next();
    }
    end_ += stride;
    return to_ + (row - begin_);
  }
  void flush() {
    if (begin_ == end_) return;
    const auto bytes = static_cast<std::size_t>(end_ - begin_);
    std::memcpy(staging_.take(bytes), begin_, bytes - head_bytes_);
    begin_ = end_ = nullptr;
  }

 private:
  CheckpointStaging& staging_;
  std::size_t head_bytes_;
  const std::byte* begin_ = nullptr;
  const std::byte* end_ = nullptr;
  const std::byte* to_ = nullptr;
};

}  // namespace

std::size_t SavedRows::staging_bytes(const TableShard& table) {
  return table.store().own_slot_bytes();
}

SavedRows::SavedRows(const TableShard& table, CheckpointStaging* staging)
    : sizes_(table.sizes()), sorted_(!table.store().is_sparse()) {
  const Store& store = table.store();
  const std::size_t unit_bytes = sizes_.unit_bytes();
  std::optional<PieceCopy> copy;
  if (staging != nullptr) copy.emplace(*staging, sizes_.layout().head_bytes());
  std::uint64_t next_key = 0;
  const std::byte* next_row = nullptr;
  store.for_each_own([&](Key key, Slot slot) {
    const std::byte* row = store.address(slot);
    const std::size_t stride = sizes_.units(key) * unit_bytes;
    if (copy) row = copy->add(row, stride);
    if (row == next_row && key.value() == next_key) {
      ++runs_.back().keys;
    } else {
      runs_.push_back({.first_key = key.value(), .keys = 1, .row = row});
    }
    next_key = key.value() + 1;
    next_row = row + stride;
    ++keys_;
  });
  if (copy) copy->flush();
}

template <class F>
void SavedRows::for_each(F&& f) const {
  for (const Run& run : runs_) {
    const std::byte* row = run.row;
    for (std::uint64_t i = 0; i < run.keys; ++i) {
      const Key key(run.first_key + i);
      f(key, row);
      row += sizes_.units(key) * sizes_.unit_bytes();
    }
  }
}

void SavedRows::sort() {
  if (!sorted_) std::ranges::sort(runs_, {}, &Run::first_key);
  sorted_ = true;
}

std::uint64_t SavedRows::shard_bytes(const ShardHeader& header) {
  ShardSize size(header);
  if (sizes_.uniform()) {
    size.add_rows(keys_);
  } else {
    sort();
    for_each([&](Key key, const std::byte*) { size.add(sizes_.content_bytes(key)); });
  }
  return size.bytes();
}

void SavedRows::write(ShardWriter& writer) {
  sort();
  if (sizes_.uniform()) {
    for (const Run& run : runs_) writer.add_rows(run.first_key, run.keys, run.row, sizes_.unit_bytes());
    return;
  }
  for_each([&](Key key, const std::byte* row) {
    writer.add(key.value(), {row, sizes_.content_bytes(key)}, sizes_.length(key));
  });
}

}  // namespace lapse
