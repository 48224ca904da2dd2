#include "lapse/store/words/key_words.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/available_memory.hpp"

namespace lapse {

KeyWords KeyWords::dense(RegionAllocator& regions, std::uint64_t keys) {
  std::unique_ptr<Region> region = regions.reserve(keys * sizeof(Word));
  if (!region || !region->commit(0, region->capacity_bytes())) {
    throw OutOfMemory(fmt::format("{}: no memory for the slot words of {} keys ({} bytes); {}",
                                  regions.whose(), keys, keys * sizeof(Word), available_memory().to_text()));
  }
  return dense(std::move(region), keys);
}

KeyWords KeyWords::dense(std::unique_ptr<Region> region, std::uint64_t keys) {
  KeyWords words;
  words.region_ = std::move(region);
  // Zeroed memory is an array of absent slot words; 64-bit atomics have the representation of their value.
  words.dense_ = reinterpret_cast<Word*>(words.region_->base());
  words.last_key_ = keys - 1;
  return words;
}

KeyWords KeyWords::sparse(RegionAllocator& regions, std::uint64_t max_keys) {
  KeyWords words;
  words.sparse_ = std::make_unique<SparseWords>(regions, max_keys);
  return words;
}

KeyWords::Word* KeyWords::find_or_try_insert(Key key) {
  try {
    return &find_or_insert(key);
  } catch (const OutOfMemory&) {
    return nullptr;
  }
}

std::size_t KeyWords::committed_bytes() const {
  return sparse_ ? sparse_->committed_bytes() : region_->capacity_bytes();
}

}  // namespace lapse
