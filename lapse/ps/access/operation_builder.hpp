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
#include "lapse/store/row_elements.hpp"

namespace lapse {

// Acquires an operation from the worker's endpoint with the first key; a call without such a key costs
// nothing. Thread safety: the worker's thread.
class OperationBuilder {
 public:
  // `handler`: receives the operation. `keys`: the number of keys of the call.
  OperationBuilder(WorkerEndpoint& endpoint, TableShard& table, const AccessRequest& request,
                   SubmissionHandler& handler, std::size_t keys)
      : endpoint_(endpoint), table_(table), request_(request), handler_(handler), keys_(keys) {}

  // Adds a key to localize.
  void add(Key key) { state().items.emplace_back(key, 0, 0); }
  // Adds a row of an access; the key counts as unanswered from now on. If it throws std::bad_alloc, it has
  // added nothing.
  void add(const Row& row) {
    OperationState& operation = state();
    const auto offset = static_cast<std::uint32_t>(row.offset);
    operation.items.emplace_back(row.key, offset, offset);
    endpoint_.unanswered().add();
    operation.update_bytes += row.update.size();
  }
  // Adds rows of values of one length, at these positions in the call.
  void add(std::span<const Key> call, std::span<const std::uint32_t> positions);

  // Adds a run of pairs of a call on single elements, which it copies. Like add(row).
  void add(const ElementPairs& pairs, std::size_t first, std::size_t end);

  bool empty() const { return state_ == nullptr || state_->items.empty(); }
  // Releases the operation, if it was begun. Requires that it is empty, or unfinished and of a localize.
  void discard() {
    if (state_ != nullptr) endpoint_.release(*state_);
  }
  // Returns the operation, after beginning it if necessary.
  OperationState& state() {
    if (state_ == nullptr) begin();
    return *state_;
  }
  // Fails the operation with the failure of a key that was handled in memory. Requires that it is not empty.
  void fail(const UserCodeFailed& failure) {
    state_->fail(
        {KeyFailure::Kind::user_code, table_.name(), failure.key(), failure.where(), failure.text()});
  }
  // While an exception is handled: fails the operation with it, for this key; none of its keys is executed,
  // but it must still be submitted. If empty, releases the operation and returns false. Aborts if even the
  // failure cannot be allocated: otherwise the caller would wait indefinitely.
  bool refuse(Key key, Rank rank) noexcept;
  // Returns the operation, which counts as open and must be submitted. Requires that it is not empty.
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
