// The length of each key's value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/values/value_layout.hpp"

namespace lapse {

// One length for all keys of a table, or one per key: a list of 4 bytes per key for a dense table, a function
// of the key for a sparse one. Immutable; any thread.
class ValueSizes {
 public:
  // f(key): elements of the key's value, at least 1. It must be pure and the same on every rank.
  using Function = std::function<std::size_t(Key)>;

  // The length of `layout` for all keys. Throws ConfigurationError if a slot would be too large.
  explicit ValueSizes(const ValueLayout& layout);
  // Calls f once for each of the keys 0 to keys - 1. Throws ConfigurationError for an impossible length.
  static ValueSizes listed(const ValueLayout& layout, std::uint64_t keys, const Function& f);
  // Calls f whenever the length is needed.
  static ValueSizes computed(const ValueLayout& layout, Function f);

  const ValueLayout& layout() const { return layout_; }
  // All keys have the length of the layout.
  bool uniform() const { return uniform_; }
  // Elements of the key's value. Requires a key of the table.
  std::size_t length(Key key) const {
    if (uniform_) [[likely]]
      return layout_.length;
    return lengths_.empty() ? checked(key) : lengths_[key.index()];
  }
  // The lengths by key if they are listed; otherwise null.
  const std::uint32_t* listed_lengths() const { return lengths_.empty() ? nullptr : lengths_.data(); }
  // Bytes of the value; of the value and the update rule's state.
  std::size_t value_bytes(Key key) const {
    if (value_bytes_ != 0) [[likely]]
      return value_bytes_;
    return layout_.value_bytes(length(key));
  }
  std::size_t content_bytes(Key key) const {
    if (content_bytes_ != 0) [[likely]]
      return content_bytes_;
    return layout_.content_bytes(length(key));
  }
  // From the beginning of the slot to the end of its content: the bytes copied when a key moves.
  std::size_t moved_bytes(Key key) const { return layout_.head_bytes() + content_bytes(key); }
  // Slots, including what replicas need, are allocated in units: of 16 bytes if lengths differ, otherwise of
  // a whole slot.
  std::size_t unit_bytes() const { return uniform_ ? layout_.slot_bytes(layout_.length) : kUnitBytes; }
  std::uint32_t units(Key key) const {
    if (uniform_) [[likely]]
      return 1;
    return static_cast<std::uint32_t>(layout_.slot_bytes(length(key)) / kUnitBytes);
  }

  // A number that differs, with high probability, if the listed lengths differ; 0 if they are not listed.
  std::uint64_t fingerprint() const { return fingerprint_; }
  // Bytes this object uses besides constants.
  std::size_t bytes() const { return lengths_.capacity() * sizeof(std::uint32_t); }
  // Largest number of elements of a value.
  static std::size_t max_elements(ElementType type);

 private:
  static constexpr std::size_t kUnitBytes = ValueLayout::kSlotAlignment;

  LAPSE_EXPORT_INNER std::size_t checked(Key key) const;

  ValueLayout layout_;
  bool uniform_;
  std::size_t value_bytes_;    // 0 when not uniform
  std::size_t content_bytes_;  // 0 when not uniform
  std::vector<std::uint32_t> lengths_;
  Function function_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace lapse
