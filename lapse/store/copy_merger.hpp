// The arithmetic of copies: how pushes to copies of a value come to the main copy, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lapse/store/slot_head.hpp"
#include "lapse/store/update_rules/kernels.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"
#include "lapse/store/values/value_layout.hpp"

namespace lapse {

// Bound to a table's rule and layout. `content` is the address of a slot, where its value begins, with the
// head before it; `elements` is the length of the key's value. *Main* is the content of the owner's slot.
//
// - Copies that merge by differences: a holder keeps a *base* beside each slot, value and state as they were
//   last agreed with the owner, and what is not merged yet is the difference. A delta is
//
//       | value and state: differences |
//
// - Copies that merge by gradients: what is not merged yet is the sum in the slot, with the number of pushes
//   in the head. The value shows it already, provisionally: the owner applies the rule once to all of it.
//   There is no base. A delta is
//
//       | sum: length elements | number of gradients 32 | padding 32 |
//
// A base and a delta need the alignment of an element. They, `main` and the slot must not overlap.
//
// Immutable, used by any thread; the caller holds the latch of the key, or no other thread sees the slot. No
// function but those that apply a custom rule throws. An exception of the rule passes through; then slot and
// delta are as before, unless the function says otherwise.
class CopyMerger {
 public:
  // What tables with this merge class need in their slots.
  static Copies copies(Merge merge);

  // The layout's copies are none, or those of the rule's merge class: else throws ConfigurationError. Where
  // they are none, the functions below must not be called.
  CopyMerger(const UpdateKernel& kernel, const ValueLayout& layout, Isa isa = best_isa());

  std::size_t delta_bytes(std::size_t elements) const {
    return by_gradients() ? layout_.value_bytes(elements) + kCountBytes : layout_.content_bytes(elements);
  }
  // 0 where there is no base; functions ignore it then.
  std::size_t base_bytes(std::size_t elements) const {
    return by_gradients() ? 0 : layout_.content_bytes(elements);
  }

  // --- holder ---

  // The slot was just given main's value and state: nothing is unmerged.
  void begin(std::byte* content, std::byte* base, std::size_t elements) const;

  // One push to a copy. A scale other than 1 only for copies that merge by differences. When the rule throws,
  // the push does not travel; what the rule wrote stays, as it would in the main copy.
  void push(std::byte* content, const std::byte* update, std::size_t elements, float scale = 1.0F) const {
    kernel_.apply(content, update, elements, scale);
    if (by_gradients()) add_to_sum(content, update, elements);
  }

  // Moves what is not merged yet to `delta`. False, and the delta is empty, when there is nothing.
  bool take_delta(std::byte* content, std::byte* base, std::byte* delta, std::size_t elements) const;

  // Main has come, with every delta merged that was taken from this copy. The slot becomes main with what is
  // not merged yet, which stays unmerged.
  void refresh(std::byte* content, std::byte* base, const std::byte* main, std::size_t elements) const;

  // As refresh, for a copy that becomes the main copy: what was not merged is merged now. Returns whether
  // there was something. The base's contents are undefined then.
  bool absorb(std::byte* content, std::byte* base, const std::byte* main, std::size_t elements) const;

  // --- owner ---

  bool is_empty(const std::byte* delta, std::size_t elements) const;
  // Merges a delta into main.
  void apply_delta(std::byte* content, const std::byte* delta, std::size_t elements) const;

 private:
  static constexpr std::size_t kCountBytes = 8;

  bool by_gradients() const { return layout_.copies == Copies::gradients; }
  std::byte* sum_of(std::byte* content, std::size_t elements) const {
    return content + layout_.sum_offset(elements);
  }
  void add_to_sum(std::byte* content, const std::byte* update, std::size_t elements) const {
    std::byte* const sum = sum_of(content, elements);
    // The sum of no gradients is not stored.
    if (SlotHead::of(content).pushes++ == 0) {
      std::memcpy(sum, update, layout_.value_bytes(elements));
    } else {
      add(sum, update, elements);
    }
  }
  // The loop of the rule add uses no parameters.
  void add(std::byte* to, const std::byte* what, std::size_t elements) const {
    add_(this, to, what, elements, 1.0F);
  }
  std::uint32_t count_of(const std::byte* delta, std::size_t elements) const;
  // content = from, with the rule applied once for `count` gradients.
  void apply_sum(std::byte* content, const std::byte* from, const std::byte* sum, std::uint32_t count,
                 std::size_t elements) const;

  UpdateKernel kernel_;
  ValueLayout layout_;
  RuleLoop add_;
  DifferenceRebase difference_rebase_;
  MergeRefresh merge_refresh_;
};

}  // namespace lapse
