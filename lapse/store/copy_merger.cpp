#include "lapse/store/copy_merger.hpp"

#include <fmt/format.h>

#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/update_rules/merge.hpp"

namespace lapse {

Copies CopyMerger::copies(Merge merge) {
  switch (merge) {
    case Merge::additive_slot:
      return Copies::differences;
    case Merge::gradient:
      return Copies::gradients;
    case Merge::none:
      break;
  }
  return Copies::none;
}

CopyMerger::CopyMerger(const UpdateKernel& kernel, const ValueLayout& layout, Isa isa)
    : kernel_(kernel), layout_(layout) {
  if (layout.copies != Copies::none && layout.copies != copies(kernel.rule().merge())) {
    throw ConfigurationError(fmt::format("copies of values with the update rule {} do not merge by {}",
                                         kernel.rule().to_string(),
                                         layout.copies == Copies::gradients ? "gradients" : "differences"));
  }
  visit_element(layout.type, [&](auto element) {
    const Kernels<decltype(element)>& kernels = kernels_for<decltype(element)>(isa);
    add_ = kernels.add_rule;
    add_elements_ = kernels.add_elements;
    difference_rebase_ = kernels.difference_rebase;
    merge_refresh_ = kernels.merge_refresh;
  });
}

void CopyMerger::begin(std::byte* content, std::byte* base, std::size_t elements) const {
  if (by_gradients()) {
    SlotHead::of(content).pushes = 0;
  } else {
    std::memcpy(base, content, layout_.content_bytes(elements));
  }
}

bool CopyMerger::take_delta(std::byte* content, std::byte* base, std::byte* delta,
                            std::size_t elements) const {
  if (!by_gradients()) {
    return difference_rebase_(content, base, delta, elements + layout_.state_elements(elements));
  }
  const std::size_t bytes = layout_.value_bytes(elements);
  std::memset(delta + bytes, 0, kCountBytes);
  std::uint32_t& pushes = SlotHead::of(content).pushes;
  if (pushes == 0) {
    std::memset(delta, 0, bytes);
    return false;
  }
  std::memcpy(delta, sum_of(content, elements), bytes);
  std::memcpy(delta + bytes, &pushes, sizeof pushes);
  pushes = 0;
  return true;
}

void CopyMerger::refresh(std::byte* content, std::byte* base, const std::byte* main,
                         std::size_t elements) const {
  if (!by_gradients()) {
    merge_refresh_(content, base, main, elements + layout_.state_elements(elements));
  } else if (const std::uint32_t pushes = SlotHead::of(content).pushes; pushes != 0) {
    apply_sum(content, main, sum_of(content, elements), pushes, elements);
  } else {
    std::memcpy(content, main, layout_.content_bytes(elements));
  }
}

bool CopyMerger::absorb(std::byte* content, std::byte* base, const std::byte* main,
                        std::size_t elements) const {
  if (!by_gradients()) {
    return merge_refresh_(content, base, main, elements + layout_.state_elements(elements));
  }
  refresh(content, base, main, elements);
  const bool merged = SlotHead::of(content).pushes != 0;
  SlotHead::of(content).pushes = 0;
  return merged;
}

std::uint32_t CopyMerger::count_of(const std::byte* delta, std::size_t elements) const {
  std::uint32_t count = 0;
  std::memcpy(&count, delta + layout_.value_bytes(elements), sizeof count);
  return count;
}

bool CopyMerger::is_empty(const std::byte* delta, std::size_t elements) const {
  if (by_gradients()) return count_of(delta, elements) == 0;
  // All bytes are 0 if the first one is and each equals its predecessor.
  const std::size_t bytes = layout_.content_bytes(elements);
  return bytes == 0 || (delta[0] == std::byte{0} && std::memcmp(delta, delta + 1, bytes - 1) == 0);
}

void CopyMerger::apply_delta(std::byte* content, const std::byte* delta, std::size_t elements) const {
  if (!by_gradients()) {
    add(content, delta, elements + layout_.state_elements(elements));
  } else if (const std::uint32_t count = count_of(delta, elements); count != 0) {
    apply_sum(content, content, delta, count, elements);
  }
}

void CopyMerger::apply_sum(std::byte* content, const std::byte* from, const std::byte* sum,
                           std::uint32_t count, std::size_t elements) const {
  const std::size_t bytes = layout_.content_bytes(elements);
  if (kernel_.kind() != UpdateRuleKind::custom) {
    // The library's rules use the sum itself and do not throw.
    if (from != content) std::memcpy(content, from, bytes);
    return kernel_.apply(content, sum, elements);
  }
  // A custom rule may change the sum, which is still needed if it throws, and may throw half way.
  constexpr std::size_t kAlignment = ValueLayout::kSlotAlignment;
  const std::size_t sum_at = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::vector<std::byte> scratch(sum_at + layout_.value_bytes(elements));
  std::memcpy(scratch.data(), from, bytes);
  std::memcpy(scratch.data() + sum_at, sum, layout_.value_bytes(elements));
  kernel_.merge_gradients(scratch.data() + sum_at, elements, count);
  kernel_.apply(scratch.data(), scratch.data() + sum_at, elements);
  std::memcpy(content, scratch.data(), bytes);
}

}  // namespace lapse
