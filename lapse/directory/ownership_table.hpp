// The owner of each key, as its home records it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse {

// One entry for each key whose home is this domain, by home index. A sparse table has no home index: its
// entries are numbered like its slot words, and a key without an entry is at home, as at the start. The
// entries of a dense table may be stored in memory that the ranks of a domain share.
//
// Thread safety: an entry belongs to the holder of the progress lock of the rank that serves its key. Only
// the home changes owners, and it handles requests strictly in arrival order, which orders all relocations of
// a key. Other threads may read an entry at any time and see it before or after a change.
class OwnershipTable {
 public:
  struct alignas(8) Entry {
    Domain owner;
    std::uint32_t relocations = 0;  // how often the key has moved; wraps
  };
  static_assert(sizeof(Entry) == sizeof(std::uint64_t));

  OwnershipTable(std::uint64_t entries, Domain self) : self_(self), size_(entries) {
    if (entries == 0) return;
    own_ = std::make_unique<Entry[]>(entries);
    std::fill_n(own_.get(), entries, at_home(self));
    fixed_ = own_.get();
  }
  // Uses existing, filled entries that outlive this object.
  OwnershipTable(std::span<Entry> entries, Domain self)
      : self_(self), size_(entries.size()), fixed_(entries.data()) {}

  // All entries if they are contiguous; empty for a table that grows.
  std::span<const Entry> entries() const { return {fixed_, fixed_ == nullptr ? 0 : size_}; }
  // The initial entry of a key.
  static Entry at_home(Domain self) { return {self, 0}; }

  Domain owner(std::uint64_t index) const { return index < size_ ? entry(index).owner : self_; }

  // Does nothing if the entries are not contiguous or there is no such entry (the key's home is another
  // domain).
  void prefetch(std::uint64_t index) const {
    if (index < entries().size()) __builtin_prefetch(fixed_ + index, 1);
  }

  struct Change {
    Domain old_owner;
    std::uint32_t relocations = 0;  // including this one
  };
  // The key now belongs to `next`.
  Change relocate(std::uint64_t index, Domain next) {
    while (index >= size_) add_piece(kPiece);
    Entry& changed = const_cast<Entry&>(entry(index));
    const Entry before = changed;
    const Entry after{next, before.relocations + 1};
    std::atomic_ref<Entry>(changed).store(after, std::memory_order_relaxed);
    return {before.owner, after.relocations};
  }

  // Bytes of this object's own entries.
  std::size_t bytes() const {
    const bool others = fixed_ != nullptr && own_ == nullptr;
    return (others ? 0 : size_ * sizeof(Entry)) + pieces_.capacity() * sizeof(pieces_[0]);
  }

 private:
  // Entries are allocated in pieces, so that growing never copies them.
  static constexpr std::uint64_t kPiece = 4096;

  const Entry& entry(std::uint64_t index) const {
    return fixed_ != nullptr ? fixed_[index] : pieces_[index / kPiece][index % kPiece];
  }
  void add_piece(std::uint64_t entries) {
    pieces_.push_back(std::make_unique<Entry[]>(entries));
    std::fill_n(pieces_.back().get(), entries, at_home(self_));
    size_ += entries;
  }

  Domain self_;
  std::uint64_t size_ = 0;
  // Used if the number of entries is known from the start: all of them, this object's own or given to it.
  std::unique_ptr<Entry[]> own_;
  Entry* fixed_ = nullptr;
  std::vector<std::unique_ptr<Entry[]>> pieces_;
};

}  // namespace lapse
