// Builds the operation for the keys of a call that could not be handled in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/ps/access/access_request.hpp"
#include "lapse/ps/access/row_cursor.hpp"

namespace lapse {

// Takes an operation from the worker's endpoint with the first key; a call without such a key costs nothing.
// Thread safety: the worker's.
class OperationBuilder {
 public:
  // `handler`: receives the operation. `keys`: of the call.
  OperationBuilder(WorkerEndpoint& endpoint, TableShard& table, const AccessRequest& request,
                   SubmissionHandler& handler, std::size_t keys)
      : endpoint_(endpoint), table_(table), request_(request), handler_(handler), keys_(keys) {}

  // A key to be localized.
  void add(Key key) { state().items.emplace_back(key, nullptr, 0, 0); }
  // A row of an access; the key counts as unanswered from now on. Throws std::bad_alloc, having added
  // nothing.
  void add(const Row& row) {
    OperationState& operation = state();
    const auto offset = static_cast<std::uint32_t>(row.offset);
    OperationState::Item& item = operation.items.emplace_back(row.key, nullptr, offset, offset);
    try {
      item.entry = endpoint_.unanswered().add(row.key);
    } catch (...) {
      operation.items.pop_back();
      throw;
    }
    operation.update_bytes += row.update.size();
  }
  // Rows of values of one length, at these positions in the call.
  void add(std::span<const Key> call, std::span<const std::uint32_t> positions);

  bool empty() const { return state_ == nullptr || state_->items.empty(); }
  // Empty, or not finished and of a localize: gives the operation back, if it was begun.
  void discard() {
    if (state_ != nullptr) endpoint_.release(*state_);
  }
  // The operation itself, which is begun if it was not.
  OperationState& state() {
    if (state_ == nullptr) begin();
    return *state_;
  }
  // Not empty. The operation ends with this failure of a key that was handled in memory.
  void fail(const UserCodeFailed& failure) {
    state_->fail(
        {KeyFailure::Kind::user_code, table_.name(), failure.key(), failure.where(), failure.text()});
  }
  // While an exception is handled: the operation ends with it, as the failure of this key, and none of its
  // keys is executed; it must be submitted nevertheless. False where it is empty: it has been given back.
  // Where there is no memory even for the failure, the process ends, rather than a call that never does.
  bool refuse(Key key, Rank rank) noexcept;
  // Not empty. The operation counts as open: it must be submitted.
  OperationState& finish();

 private:
  void begin();
  void begin(OperationState& operation);

  WorkerEndpoint& endpoint_;
  TableShard& table_;
  const AccessRequest& request_;
  SubmissionHandler& handler_;
  const std::size_t keys_;
  OperationState* state_ = nullptr;
};

}  // namespace lapse
