// A slot with a head and its neighbouring memory, for tests of replicas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lapse/store/copy_merger.hpp"

namespace lapse::test {

// The slot of a key whose value has `elements` elements of type T, and a base. Bytes after both are checked.
template <class T>
class CopySlot {
 public:
  CopySlot(const CopyMerger& merger, const ValueLayout& layout, std::size_t elements)
      : merger_(merger),
        layout_(layout),
        elements_(elements),
        memory_(layout.slot_bytes(elements) + kWatched, kUnset),
        base_(merger.base_bytes(elements) + kWatched, kUnset) {
    SlotHead::clear(content());
  }

  std::byte* content() { return memory_.data() + layout_.head_bytes(); }
  std::byte* base() { return base_.data(); }
  SlotHead& head() { return SlotHead::of(content()); }
  // Number of elements of value and state.
  std::size_t size() const { return layout_.content_bytes(elements_) / sizeof(T); }
  std::vector<T> numbers() {
    std::vector<T> result(size());
    std::memcpy(result.data(), content(), size() * sizeof(T));
    return result;
  }
  std::vector<T> value() {
    std::vector<T> result = numbers();
    result.resize(elements_);
    return result;
  }
  void write(const std::vector<T>& numbers) {
    std::memcpy(content(), numbers.data(), numbers.size() * sizeof(T));
  }

  // Makes it a new replica of `main`.
  void become_copy_of(CopySlot& main) {
    write(main.numbers());
    merger_.begin(content(), base(), elements_);
  }
  void push(const std::vector<T>& update, float scale = 1.0F) {
    merger_.push(content(), reinterpret_cast<const std::byte*>(update.data()), elements_, scale);
  }
  // The delta. `any`: the result of take_delta.
  std::vector<std::byte> take_delta(bool* any = nullptr) {
    std::vector<std::byte> delta(merger_.delta_bytes(elements_) + kWatched, kUnset);
    const bool taken = merger_.take_delta(content(), base(), delta.data(), elements_);
    if (any != nullptr) *any = taken;
    return delta;
  }
  void apply_delta(const std::vector<std::byte>& delta) {
    merger_.apply_delta(content(), delta.data(), elements_);
  }
  void refresh(CopySlot& main) { merger_.refresh(content(), base(), main.content(), elements_); }
  bool absorb(CopySlot& main) { return merger_.absorb(content(), base(), main.content(), elements_); }

  // Checks that nothing was written after slot, base and delta.
  bool intact(const std::vector<std::byte>& delta = std::vector<std::byte>(kWatched, kUnset)) const {
    const auto watched = [](const std::vector<std::byte>& bytes) {
      for (std::size_t i = bytes.size() - kWatched; i < bytes.size(); ++i) {
        if (bytes[i] != kUnset) return false;
      }
      return true;
    };
    return watched(memory_) && watched(base_) && watched(delta);
  }

 private:
  static constexpr std::size_t kWatched = 32;
  static constexpr std::byte kUnset{0x5a};

  const CopyMerger& merger_;
  const ValueLayout& layout_;
  std::size_t elements_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> base_;
};

}  // namespace lapse::test
