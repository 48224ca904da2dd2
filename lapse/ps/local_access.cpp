#include "lapse/ps/local_access.hpp"

#include "lapse/protocol/user_code.hpp"

namespace lapse {

std::size_t LocalAccess::run(std::span<const Key> keys) const {
  const ValueSizes& sizes = table_.store().sizes();
  if (!sizes.uniform() || request_.runs_user_code(table_)) return 0;
  if (request_.operation.kind == OperationKind::pull)
    return table_.store().read_run(keys, request_.destination);
  if (request_.operation.kind != OperationKind::push) return 0;
  const std::size_t bytes = sizes.layout().value_bytes();
  const std::size_t length = sizes.layout().length;
  return table_.store().update_run(keys, [&](std::size_t i, std::byte* content) {
    table_.definition().rule.apply(content, request_.updates + i * bytes, length, request_.operation.scale);
  });
}

bool LocalAccess::try_key(Key key, Store::Word* word, const std::byte* update, std::byte* to) const {
  if (request_.operation.kind == OperationKind::pull) {
    if (word != nullptr) return table_.store().read_at(*word, to, table_.value_bytes(key));
    return table_.store().is_sparse() &&
           run_user_code(table_.name(), key, rank_, [&] { return table_.read_uninitialized(key, to); });
  }
  if (word == nullptr) return false;
  return run_user_code(table_.name(), key, rank_, [&] {
    return table_.store().update_at(
        *word, [&](std::byte* content) { table_.apply(request_.operation, key, content, update, to); });
  });
}

}  // namespace lapse
