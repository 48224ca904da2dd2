// Builds the operation for the keys of a call that could not be handled in memory.
#pragma once

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table_shard.hpp"
#include "lapse/protocol/worker_endpoint.hpp"
#include "lapse/ps/access_request.hpp"
#include "lapse/ps/row_cursor.hpp"

namespace lapse {

// Takes an operation from the worker's endpoint with the first key; a call without such a key costs nothing.
// Thread safety: the worker's.
class OperationBuilder {
 public:
  // `handler`: receives the operation.
  OperationBuilder(WorkerEndpoint& endpoint, TableShard& table, const AccessRequest& request,
                   SubmissionHandler& handler)
      : endpoint_(endpoint), table_(table), request_(request), handler_(handler) {}

  // A key to be localized.
  void add(Key key) { state().items.push_back({key, nullptr, 0, 0, false}); }
  // A row of an access; the key counts as unanswered from now on.
  void add(const Row& row, const RowCursor& cursor);

  bool empty() const { return state_ == nullptr; }
  // Not empty. The operation ends with this failure of a key that was handled in memory.
  void fail(const UserCodeFailed& failure) {
    state_->fail({KeyFailure::Kind::user_code, table_.name(), failure.key(), failure.where(), failure.text()});
  }
  // Not empty. The operation counts as open: it must be submitted.
  OperationState& finish();

 private:
  OperationState& state();

  WorkerEndpoint& endpoint_;
  TableShard& table_;
  const AccessRequest& request_;
  SubmissionHandler& handler_;
  OperationState* state_ = nullptr;
};

}  // namespace lapse
