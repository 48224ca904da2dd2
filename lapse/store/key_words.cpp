#include "lapse/store/key_words.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"

namespace lapse {

KeyWords KeyWords::dense(RegionAllocator& regions, std::uint64_t keys) {
  KeyWords words;
  words.region_ = regions.reserve(keys * sizeof(Word));
  if (!words.region_ || !words.region_->commit(0, words.region_->capacity_bytes())) {
    throw OutOfMemory(
        fmt::format("no memory for the words of {} keys ({} bytes)", keys, keys * sizeof(Word)));
  }
  // Zeroed memory is an array of absent words; atomics of 64 bits have the representation of their value.
  words.dense_ = reinterpret_cast<Word*>(words.region_->base());
  words.last_key_ = keys - 1;
  return words;
}

KeyWords KeyWords::sparse(RegionAllocator& regions, std::uint64_t max_keys) {
  KeyWords words;
  words.sparse_ = std::make_unique<SparseWords>(regions, max_keys);
  return words;
}

std::size_t KeyWords::committed_bytes() const {
  return sparse_ ? sparse_->committed_bytes() : region_->capacity_bytes();
}

}  // namespace lapse
