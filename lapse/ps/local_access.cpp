#include "lapse/ps/local_access.hpp"

#include <algorithm>

#include "lapse/protocol/user_code.hpp"

namespace lapse {

std::optional<Row> LocalAccess::next_undone() {
  if (!begun_) {
    begun_ = true;
    const std::size_t first = unanswered_.total() == 0 ? run(cursor_.remaining()) : 0;
    cursor_.skip(first);
    done_ += first;
  }
  while (!cursor_.at_end()) {
    if (word_ == words_.size()) {
      const std::span<const Key> keys = cursor_.remaining();
      table_.store().find(keys.first(std::min(words_.size(), keys.size())), words_.data());
      word_ = 0;
    }
    Store::Word* const word = words_[word_++];
    const Row row = cursor_.next();
    if (!carry_out(row, word)) return row;
  }
  return std::nullopt;
}

bool LocalAccess::carry_out(const Row& row, Store::Word* word) {
  if (word != nullptr && !has_usable_value(SlotWord(word->load(std::memory_order_relaxed)).role()))
    return false;
  if (unanswered_.contains(table_.id(), row.key)) return false;
  try {
    if (!try_key(row, word)) return false;
    ++done_;
  } catch (const UserCodeFailed& error) {
    if (!failure_) failure_ = error;
  }
  return true;
}

std::size_t LocalAccess::run(std::span<const Key> keys) const {
  const ValueSizes& sizes = table_.store().sizes();
  if (!sizes.uniform() || request_.runs_user_code(table_)) return 0;
  if (request_.operation.kind == OperationKind::pull)
    return table_.store().read_run(keys, request_.destination);
  if (request_.operation.kind != OperationKind::push) return 0;
  const std::size_t bytes = sizes.layout().value_bytes();
  const std::size_t length = sizes.layout().length;
  return table_.store().update_run(keys, [&](std::size_t i, std::byte* slot) {
    table_.definition().rule.apply(slot, request_.updates + i * bytes, length, request_.operation.scale);
  });
}

bool LocalAccess::try_key(const Row& row, Store::Word* word) const {
  if (request_.operation.kind == OperationKind::pull) {
    if (word != nullptr) return table_.store().read_at(*word, row.destination, table_.value_bytes(row.key));
    return table_.store().is_sparse() && run_user_code(table_.name(), row.key, rank_, [&] {
             return table_.read_uninitialized(row.key, row.destination);
           });
  }
  if (word == nullptr) return false;
  return run_user_code(table_.name(), row.key, rank_, [&] {
    return table_.store().update_at(*word, [&](std::byte* slot) {
      table_.apply(request_.operation, row.key, slot, row.update.data(), row.destination);
    });
  });
}

}  // namespace lapse
