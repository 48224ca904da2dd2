// Pull, push, set and call on keys whose memory this rank can use.
#pragma once

#include <cstddef>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/protocol/operation_state.hpp"
#include "lapse/protocol/table_shard.hpp"

namespace lapse {

// What a worker's call asks for, beside table and keys.
struct AccessRequest {
  ValueOperation operation;
  const std::byte* updates = nullptr;  // push, set: rows; call: arguments
  std::byte* destination = nullptr;    // pull: rows; call: results

  // Whether code of the application may run under the latch of a key.
  bool runs_user_code(const TableShard& table) const {
    return operation.kind == OperationKind::call ||
           table.definition().rule.kind() == UpdateRuleKind::custom || table.store().is_sparse();
  }
};

// One call of a worker, carried out key by key. Thread safety: the worker's.
class LocalAccess {
 public:
  // `rank` is the worker's, for errors.
  LocalAccess(TableShard& table, const AccessRequest& request, Rank rank)
      : table_(table), request_(request), rank_(rank) {}

  // The first keys, as long as each is here and all is simple: values of one length, no code of the
  // application. Returns how many.
  std::size_t run(std::span<const Key> keys) const;
  // One key; word (or null), update and to are its own. False when it is not here. Throws UserCodeFailed.
  bool try_key(Key key, Store::Word* word, const std::byte* update, std::byte* to) const;

 private:
  TableShard& table_;
  const AccessRequest& request_;
  Rank rank_;
};

}  // namespace lapse
