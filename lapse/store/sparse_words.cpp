#include "lapse/store/sparse_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {
constexpr std::uint64_t kFirstBuckets = 16;
constexpr std::size_t kSmallPiece = std::size_t{64} << 10;
constexpr std::size_t kLargePiece = std::size_t{2} << 20;

std::uint64_t most_buckets(std::uint64_t keys) {
  return kFirstBuckets + keys + keys / 3 + 1;
}
}  // namespace

SparseWords::SparseWords(RegionAllocator& regions, std::uint64_t max_keys)
    : max_keys_(std::min<std::uint64_t>(max_keys, 0xffff'fffeU)),
      entry_region_(regions.reserve((max_keys_ + 1) * sizeof(Entry))),
      bucket_region_(regions.reserve(most_buckets(max_keys_) * sizeof(Bucket))),
      entries_(nullptr),
      buckets_(nullptr),
      state_(2 * kFirstBuckets),
      whose_(regions.whose()) {
  if (!entry_region_ || !bucket_region_) {
    throw OutOfMemory(fmt::format("{}: no address space for up to {} keys", whose_, max_keys_));
  }
  // Zeroed memory is an array of empty buckets and of entries whose words are absent.
  entries_ = reinterpret_cast<Entry*>(entry_region_->base());
  buckets_ = reinterpret_cast<Bucket*>(bucket_region_->base());
  commit(*entry_region_, entry_bytes_, sizeof(Entry));
  commit(*bucket_region_, bucket_bytes_, kFirstBuckets * sizeof(Bucket));
}

void SparseWords::commit(Region& region, std::atomic<std::size_t>& committed_bytes, std::size_t bytes) const {
  for (std::size_t committed = committed_bytes.load(std::memory_order_relaxed); committed < bytes;) {
    // Early pieces are small, so that small tables are.
    const std::size_t piece = std::min(committed < 4 * kLargePiece ? kSmallPiece : kLargePiece,
                                       region.capacity_bytes() - committed);
    if (piece == 0 || !region.commit(committed, piece)) {
      throw OutOfMemory(
          fmt::format("{}: no memory for further keys, whose words take {} bytes", whose_, committed));
    }
    committed += piece;
    committed_bytes.store(committed, std::memory_order_relaxed);
  }
}

std::uint64_t SparseWords::settled_state() const {
  constexpr int kSpins = 100;
  std::uint64_t now = state();
  for (int spins = 0; (now & 1) != 0; now = state()) {
    if (++spins > kSpins) std::this_thread::yield();
  }
  return now;
}

SparseWords::Word& SparseWords::find_or_insert(Key key) {
  if (Word* word = find(key)) return *word;
  const std::uint64_t size = size_.load(std::memory_order_relaxed);
  if (size == max_keys_) {
    throw OutOfMemory(fmt::format("{} knows all the {} keys that it may hold or know of", whose_, max_keys_));
  }
  commit(*entry_region_, entry_bytes_, (size + 2) * sizeof(Entry));
  while ((state_.load(std::memory_order_relaxed) >> 1) * 3 < (size + 1) * 4) split_next();
  const auto at = static_cast<std::uint32_t>(size + 1);
  Bucket& bucket = buckets_[bucket_of(key, state_.load(std::memory_order_relaxed))];
  Entry& entry = entries_[at];
  entry.key = key.value();
  entry.next.store(bucket.load(std::memory_order_relaxed), std::memory_order_relaxed);
  bucket.store(at, std::memory_order_release);
  size_.store(size + 1, std::memory_order_release);
  return entry.word;
}

void SparseWords::split_next() {
  const std::uint64_t buckets = state_.load(std::memory_order_relaxed) >> 1;
  commit(*bucket_region_, bucket_bytes_, (buckets + 1) * sizeof(Bucket));
  const std::uint64_t half = std::bit_floor(buckets);
  Bucket& low = buckets_[buckets - half];
  Bucket& high = buckets_[buckets];
  state_.store(2 * buckets + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  // Both chains keep the old order, so that no link ever leads back: whoever walks along comes to an end.
  std::atomic<std::uint32_t>* low_end = &low;
  std::atomic<std::uint32_t>* high_end = &high;
  for (std::uint32_t at = low.load(std::memory_order_relaxed); at != 0;) {
    Entry& entry = entries_[at];
    std::atomic<std::uint32_t>*& end = (mix_bits(entry.key) & half) == 0 ? low_end : high_end;
    end->store(at, std::memory_order_release);
    end = &entry.next;
    at = entry.next.load(std::memory_order_relaxed);
  }
  low_end->store(0, std::memory_order_release);
  high_end->store(0, std::memory_order_release);
  state_.store(2 * (buckets + 1), std::memory_order_release);
}

}  // namespace lapse
