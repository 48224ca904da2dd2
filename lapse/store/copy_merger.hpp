// The arithmetic of replicas: how pushes to replicas reach the main copy and return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lapse/store/slot_head.hpp"
#include "lapse/store/update_rules/kernels.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"
#include "lapse/store/values/value_layout.hpp"

namespace lapse {

// Bound to a table's rule and layout. `content` is the address of a slot's value, with the head before it;
// `elements` is the length of the key's value. *Main* is the content of the owner's slot.
//
// - Replicas that merge by differences: a holder keeps a *base* beside each slot, the value and state last
//   agreed with the owner. The unmerged part is the difference to it. A delta is
//
//       | value and state: differences |
//
// - Replicas that merge by gradients: the unmerged part is the sum in the slot, with the number of pushes in
//   the head. The value shows it already, provisionally: the owner applies the rule once to all of it. There
//   is no base. A delta is
//
//       | sum: length elements | number of gradients 32 | padding 32 |
//
// A base and a delta need an element's alignment. Base, delta, `main` and slot must not overlap.
//
// Immutable, used by any thread. The caller holds the key's latch, or no other thread sees the slot. Only
// functions that apply a custom rule throw: the rule's exception propagates, and slot and delta are unchanged
// unless the function says otherwise.
class CopyMerger {
 public:
  // The contents that slots of tables with this merge class need.
  static Copies copies(Merge merge);

  // Throws ConfigurationError unless the layout's copies are none or those of the rule's merge class. If they
  // are none, the functions below must not be called.
  CopyMerger(const UpdateKernel& kernel, const ValueLayout& layout, Isa isa = best_isa());

  std::size_t delta_bytes(std::size_t elements) const {
    return by_gradients() ? layout_.value_bytes(elements) + kCountBytes : layout_.content_bytes(elements);
  }
  // 0 if there is no base; functions then ignore it.
  std::size_t base_bytes(std::size_t elements) const {
    return by_gradients() ? 0 : layout_.content_bytes(elements);
  }

  // --- holder ---

  // Begins a replica: the slot was just given main's value and state, and nothing is unmerged.
  void begin(std::byte* content, std::byte* base, std::size_t elements) const;

  // One push to a replica. A scale other than 1 requires replicas that merge by differences. If the rule
  // throws, the push is not merged; what the rule wrote stays, as it would in the main copy.
  void push(std::byte* content, const std::byte* update, std::size_t elements, float scale = 1.0F) const {
    kernel_.apply(content, update, elements, scale);
    if (by_gradients()) add_to_sum(content, update, elements);
  }

  // Like push, for single elements, as UpdateKernel::apply_elements applies them.
  void push_elements(std::byte* content, std::size_t elements, const std::uint32_t* indices,
                     const std::byte* updates, std::size_t count, float scale = 1.0F) const {
    kernel_.apply_elements(content, elements, indices, updates, count, scale);
    if (by_gradients()) add_elements_to_sum(content, elements, indices, updates, count);
  }

  // Moves the unmerged part to `delta`. Returns false, leaving the delta empty, if there is none.
  bool take_delta(std::byte* content, std::byte* base, std::byte* delta, std::size_t elements) const;

  // Main has arrived, with every delta merged that was taken from this replica. Sets the slot to main plus
  // the unmerged part, which stays unmerged.
  void refresh(std::byte* content, std::byte* base, const std::byte* main, std::size_t elements) const;

  // Like refresh, for a replica that becomes the main copy: the unmerged part is merged now. Returns whether
  // there was one. The base is undefined afterwards.
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
    // The sum of zero gradients is not stored.
    if (SlotHead::of(content).pushes++ == 0) {
      std::memcpy(sum, update, layout_.value_bytes(elements));
    } else {
      add(sum, update, elements);
    }
  }
  void add_elements_to_sum(std::byte* content, std::size_t elements, const std::uint32_t* indices,
                           const std::byte* updates, std::size_t count) const {
    std::byte* const sum = sum_of(content, elements);
    if (SlotHead::of(content).pushes++ == 0) std::memset(sum, 0, layout_.value_bytes(elements));
    add_elements_(this, sum, elements, indices, updates, count, 1.0F);
  }
  // The loops of the rule `add` use no parameters.
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
  ElementLoop add_elements_;
  DifferenceRebase difference_rebase_;
  MergeRefresh merge_refresh_;
};

}  // namespace lapse
