#include "lapse/ps/access/local_access.hpp"

#include <algorithm>

#include "lapse/protocol/host/user_code.hpp"
#include "lapse/store/push_run.hpp"

namespace lapse {

void LocalAccess::find_words(std::span<const Key> keys) {
  table_.store().find(keys.first(std::min(words_.size(), keys.size())), words_.data());
  word_ = 0;
}

void LocalAccess::carry_out_leading() {
  RowCursor next = cursor_;
  while (!next.at_end()) {
    if (word_ == words_.size()) find_words(next.remaining());
    const Row row = next.next();
    Store::Word* const word = words_[word_];
    if ((word != nullptr && !may_use(*word)) || !carry_out(row, word)) return;
    ++word_;
    cursor_ = next;
  }
}

std::size_t LocalAccess::carry_out_together(NotLocal& undone) {
  const std::span keys = cursor_.remaining();
  if (word_ == words_.size()) find_words(keys);
  const std::size_t count = std::min(words_.size() - word_, keys.size());
  const std::size_t first = cursor_.position();
  std::array<std::uint32_t, Store::kMaxAtOnce> usable;
  std::size_t usables = 0;
  undone.count = 0;
  // Branchless: which keys are local is unpredictable.
  for (std::size_t i = 0; i < count; ++i) {
    const Store::Word* const word = words_[word_ + i];
    const bool use = word != nullptr && may_use(*word);
    usable[usables] = static_cast<std::uint32_t>(i);
    usables += use ? 1 : 0;
    undone.positions[undone.count] = static_cast<std::uint32_t>(first + i);
    undone.words[undone.count] = word;
    undone.count += use ? 0 : 1;
  }
  if (is_ordered_ && usables > 0) [[unlikely]]
    usables = keep_order(std::span(usable).first(usables), undone);
  const std::size_t bytes = table_.sizes().layout().value_bytes();
  const bool pull = request_.operation.kind == OperationKind::pull;
  std::size_t tried = count;
  for (std::size_t i = 0; i < usables; ++i) {
    Store::Word& word = *words_[word_ + usable[i]];
    const std::size_t offset = (first + usable[i]) * bytes;
    // Does not wait for a latch that another thread holds.
    const Store::Attempt attempt =
        pull ? table_.store().try_read_at(word, request_.destination + offset, bytes)
             : table_.store().try_update_at(word, reach_, [&](std::byte* slot) {
                 table_.apply(request_.operation, keys[usable[i]], slot, request_.updates + offset, nullptr);
               });
    counts_.copies += attempt == Store::Attempt::done_on_copy ? 1 : 0;
    if (attempt != Store::Attempt::done && attempt != Store::Attempt::done_on_copy) [[unlikely]] {
      // The others may be local a moment later, when the call names a key again.
      may_overtake_ = true;
      tried = usable[i];
      const auto behind = static_cast<std::uint32_t>(first + tried);
      while (undone.count > 0 && undone.positions[undone.count - 1] > behind) --undone.count;
      usables = i;
    }
  }
  counts_.all += usables;
  word_ += tried;
  cursor_.skip(tried);
  return tried;
}

std::size_t LocalAccess::keep_order(std::span<std::uint32_t> usable, NotLocal& undone) {
  const std::span keys = cursor_.remaining();
  const auto first = static_cast<std::uint32_t>(cursor_.position());
  std::size_t kept = 0;
  for (const std::uint32_t i : usable) {
    if (endpoint_.may_access_memory(table_, keys[i], words_[word_ + i])) {
      usable[kept++] = i;
      continue;
    }
    // In the order of positions.
    std::size_t at = undone.count++;
    for (; at > 0 && undone.positions[at - 1] > first + i; --at) {
      undone.positions[at] = undone.positions[at - 1];
      undone.words[at] = undone.words[at - 1];
    }
    undone.positions[at] = first + i;
    undone.words[at] = words_[word_ + i];
  }
  return kept;
}

bool LocalAccess::carry_out(const Row& row, Store::Word* word) {
  if (may_overtake_ && !endpoint_.may_access_memory(table_, row.key, word)) return false;
  try {
    if (!try_key(row, word)) return false;
    ++counts_.all;
  } catch (const UserCodeFailed& error) {
    if (!failure_) failure_ = error;
  }
  return true;
}

std::size_t LocalAccess::run(TableShard& table, std::span<const Key> keys, const AccessRequest& request,
                             const Counts& counts) {
  const ValueSizes& sizes = table.store().sizes();
  if (!sizes.uniform() || request.runs_user_code(table)) return 0;
  const auto count = [&](const Store::Run& run) {
    counts.all += run.keys;
    counts.copies += run.copies;
    return run.keys;
  };
  if (request.operation.kind == OperationKind::pull)
    return count(table.store().read_run<Store::Reach::any>(keys, request.destination));
  if (request.operation.kind != OperationKind::push) return 0;
  return count(push_run(table.store(), table.definition().rule, keys, table.reach(request.operation),
                        request.updates, request.operation.scale));
}

bool LocalAccess::try_key(const Row& row, Store::Word* word) {
  Store& store = table_.store();
  if (request_.operation.kind == OperationKind::pull) {
    if (word != nullptr) {
      const std::size_t bytes = table_.value_bytes(row.key);
      return waits_ ? is_done(store.read_at(*word, row.destination, bytes))
                    : is_done(store.try_read_at(*word, row.destination, bytes));
    }
    return table_.store().is_sparse() && run_user_code(table_.name(), row.key, rank_, [&] {
             return table_.read_uninitialized(row.key, row.destination);
           });
  }
  if (word == nullptr) return false;
  return run_user_code(table_.name(), row.key, rank_, [&] {
    if (reach_ == Store::Reach::any && table_.sizes().layout().copies == Copies::gradients &&
        SlotWord(word->load(std::memory_order_relaxed)).is_copy())
      return is_done(table_.push_any(*word, row.key, request_.operation, row.update.data()));
    const auto apply = [&](std::byte* slot) {
      table_.apply(request_.operation, row.key, slot, row.update.data(), row.destination);
    };
    return waits_ ? is_done(store.update_at(*word, reach_, apply))
                  : is_done(store.try_update_at(*word, reach_, apply));
  });
}

}  // namespace lapse
