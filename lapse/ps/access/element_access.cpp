#include "lapse/ps/access/element_access.hpp"

#include "lapse/protocol/host/user_code.hpp"

namespace lapse {

void ElementAccess::push(std::byte* slot, std::size_t first, std::size_t end) const {
  table_.definition().rule.apply_elements(slot, table_.sizes().length(pairs_.key(first)),
                                          &pairs_.indices[first], request_.updates + first * element_bytes_,
                                          end - first, request_.operation.scale);
}

RowElements::Done ElementAccess::push_leading() const {
  if (table_.definition().rule.kind() != UpdateRuleKind::add || request_.operation.scale != 1.0F) {
    return elements_.update(
        pairs_, reach_, [&](std::size_t first, std::size_t end, std::byte* slot) { push(slot, first, end); });
  }
  // The shortest path, without a call for each run.
  return visit_element(table_.sizes().layout().type, [&](auto element) {
    using T = decltype(element);
    const auto* const updates = reinterpret_cast<const T*>(request_.updates);
    const std::uint32_t* const indices = pairs_.indices.data();
    return elements_.update(pairs_, reach_, [=](std::size_t first, std::size_t end, std::byte* slot) {
      for (std::size_t i = first; i < end; ++i)
        add_elements(reinterpret_cast<T*>(slot) + indices[i], updates + i, 1);
    });
  });
}

void ElementAccess::carry_out_leading() {
  // A function of lengths is code of the application.
  if (table_.store().is_sparse() && !table_.sizes().uniform()) return;
  const RowElements::Done done =
      is_read(request_.operation.kind) ? elements_.read(pairs_, request_.destination) : push_leading();
  next_ = done.pairs;
  counts_.all += done.runs;
  counts_.copies += done.copies;
}

bool ElementAccess::read_uninitialized(const ElementRun& run, std::byte* to) {
  if (!table_.store().is_sparse()) return false;
  const Key key = next_key();
  try {
    value_.resize(table_.value_bytes(key));
    if (!run_user_code(table_.name(), key, rank_,
                       [&] { return table_.read_uninitialized(key, value_.data()); }))
      return false;
    RowElements::gather(value_.data(), element_bytes_, run, to);
  } catch (const UserCodeFailed& error) {
    if (!failure_) failure_ = error;
    return true;
  }
  return true;
}

bool ElementAccess::carry_out(Store::Word* word, std::size_t end) {
  const std::size_t first = next_;
  Found found;
  if (is_read(request_.operation.kind)) {
    const ElementRun run{&pairs_.indices[first], end - first};
    std::byte* const to = request_.destination + first * element_bytes_;
    if (word == nullptr) {
      if (!read_uninitialized(run, to)) return false;
      ++counts_.all;
      return true;
    }
    found = elements_.read_at(*word, Store::Reach::any, run, to);
  } else if (word == nullptr) {
    return false;
  } else if (reach_ == Store::Reach::any && table_.sizes().layout().copies == Copies::gradients &&
             SlotWord(word->load(std::memory_order_relaxed)).is_copy()) {
    const Key key = next_key();
    found = table_.store().update_any_at(*word, [&](std::byte* slot, bool is_copy) {
      if (!is_copy) return push(slot, first, end);
      table_.push_elements_to_copy(key, slot, {&pairs_.indices[first], end - first},
                                   request_.updates + first * element_bytes_, request_.operation.scale);
    });
  } else {
    found = table_.store().update_at(*word, reach_, [&](std::byte* slot) { push(slot, first, end); });
  }
  if (!found) return false;
  ++counts_.all;
  counts_.copies += found.is_copy() ? 1 : 0;
  return true;
}

}  // namespace lapse
