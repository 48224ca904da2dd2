#include "lapse/store/words/sparse_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/available_memory.hpp"

namespace lapse {

namespace {
constexpr std::uint64_t kFirstBuckets = 16;
constexpr std::size_t kSmallPiece = std::size_t{64} << 10;
constexpr std::size_t kLargePiece = std::size_t{2} << 20;
// The chains to be split next are prefetched this many splits ahead.
constexpr std::uint64_t kPrefetchAhead = 8;
}  // namespace

SparseWords::SparseWords(RegionAllocator& regions, std::uint64_t max_keys)
    : SparseLookup(kFirstBuckets),
      max_keys_(std::min<std::uint64_t>(max_keys, 0xffff'fffeU)),
      entry_region_(regions.reserve((max_keys_ + 1) * sizeof(Entry))),
      link_region_(regions.reserve((max_keys_ + 1) * sizeof(Link))),
      bucket_region_(regions.reserve((kFirstBuckets + kBucketsPerKey * max_keys_) * sizeof(Link))),
      owner_label_(regions.whose()) {
  if (!entry_region_ || !link_region_ || !bucket_region_) {
    throw OutOfMemory(fmt::format("{}: no address space for up to {} keys; {}", owner_label_, max_keys_,
                                  available_memory().to_text()));
  }
  // Zeroed memory is an array of empty buckets and of entries whose slot words are absent.
  entries_ = reinterpret_cast<Entry*>(entry_region_->base());
  links_ = reinterpret_cast<Link*>(link_region_->base());
  buckets_ = reinterpret_cast<Link*>(bucket_region_->base());
  commit(*entry_region_, entry_bytes_, sizeof(Entry));
  commit(*link_region_, link_bytes_, sizeof(Link));
  commit(*bucket_region_, bucket_bytes_, kFirstBuckets * sizeof(Link));
}

void SparseWords::commit(Region& region, std::atomic<std::size_t>& committed_bytes, std::size_t bytes) const {
  for (std::size_t committed = committed_bytes.load(std::memory_order_relaxed); committed < bytes;) {
    // Early pieces are small, so that small tables take little memory.
    const std::size_t piece = std::min(committed < 4 * kLargePiece ? kSmallPiece : kLargePiece,
                                       region.capacity_bytes() - committed);
    if (piece == 0 || !region.commit(committed, piece)) {
      throw OutOfMemory(fmt::format("{}: no memory for further keys, their slot words take {} bytes; {}",
                                    owner_label_, committed, available_memory().to_text()));
    }
    committed += piece;
    committed_bytes.store(committed, std::memory_order_relaxed);
  }
}

void SparseWords::find(std::span<const Key> keys, Word** words) const {
  std::array<const Link*, kMaxAtOnce> buckets;
  std::array<std::uint32_t, kMaxAtOnce> first;
  const std::uint64_t state = this->state();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    buckets[i] = &buckets_[bucket_of(hash_of(keys[i].value()), state)];
    __builtin_prefetch(buckets[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    first[i] = buckets[i]->load(std::memory_order_acquire);
    __builtin_prefetch(&entries_[first[i]]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Entry* entry = find_in_chain(first[i], keys[i]);
    // Not finding the key in this chain proves nothing.
    words[i] = entry != nullptr ? const_cast<Word*>(&entry->word) : find(keys[i]);
  }
}

SparseWords::Word& SparseWords::find_or_insert(Key key) {
  if (Word* word = find(key)) return *word;
  const std::uint64_t size = size_.load(std::memory_order_relaxed);
  if (size == max_keys_) {
    throw OutOfMemory(
        fmt::format("{} has slot words for all the {} keys that it may have", owner_label_, max_keys_));
  }
  commit(*entry_region_, entry_bytes_, (size + 2) * sizeof(Entry));
  commit(*link_region_, link_bytes_, (size + 2) * sizeof(Link));
  while ((state_.load(std::memory_order_relaxed) >> 1) < (size + 1) * kBucketsPerKey) split_next();
  const auto at = static_cast<std::uint32_t>(size + 1);
  Link& bucket = buckets_[bucket_of(hash_of(key.value()), state_.load(std::memory_order_relaxed))];
  Entry& entry = entries_[at];
  entry.key = key.value();
  links_[at].store(bucket.load(std::memory_order_relaxed), std::memory_order_relaxed);
  bucket.store(at, std::memory_order_release);
  size_.store(size + 1, std::memory_order_release);
  return entry.word;
}

void SparseWords::split_next() {
  const std::uint64_t buckets = state_.load(std::memory_order_relaxed) >> 1;
  commit(*bucket_region_, bucket_bytes_, (buckets + 1) * sizeof(Link));
  const std::uint64_t half = std::bit_floor(buckets);
  Link& low = buckets_[buckets - half];
  Link& high = buckets_[buckets];
  // All buckets after `low` exist, as `high` comes later.
  const std::uint64_t ahead = std::min(buckets - half + kPrefetchAhead, buckets);
  __builtin_prefetch(&entries_[buckets_[ahead].load(std::memory_order_relaxed)]);
  state_.store(2 * buckets + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  // Both chains keep the old order, so no link ever leads back: a reader that follows a chain reaches its
  // end.
  Link* low_end = &low;
  Link* high_end = &high;
  for (std::uint32_t at = low.load(std::memory_order_relaxed); at != 0;) {
    Link*& end = (hash_of(entries_[at].key) & half) == 0 ? low_end : high_end;
    end->store(at, std::memory_order_release);
    end = &links_[at];
    at = end->load(std::memory_order_relaxed);
  }
  low_end->store(0, std::memory_order_release);
  high_end->store(0, std::memory_order_release);
  mask_.store(2 * half - 1, std::memory_order_relaxed);
  state_.store(2 * (buckets + 1), std::memory_order_release);
}

}  // namespace lapse
