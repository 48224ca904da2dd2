// The calls of a random workload on one table, with the history that it records.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/operation.hpp"

namespace lapse::test {

// WorkerCore::may_push.
bool may_push(Worker& worker, const TableHandle& table, std::span<const Key> keys, double magnitude);

// The steps of a call in which the worker waits.
class CallSteps {
 public:
  virtual ~CallSteps() = default;
  virtual bool is_done() const = 0;
  virtual bool may_advance() const = 0;
  virtual void advance() = 0;
};
// A push to a table that bounds what all workers together change; else null. Keys and updates outlive it.
std::unique_ptr<CallSteps> begin_granted_push(Worker& worker, const TableHandle& table,
                                              std::span<const Key> keys, const std::byte* updates,
                                              float scale);

enum class Call {
  pull,
  push,
  set,
  localize,
  pull_if_local,
  update_if_local,
  call,
  lease,
  intent,
  sync,
  pull_elements,
  push_elements
};
inline constexpr int kCalls = 12;

std::string_view to_string(Call call);

// A call whose operation may be unanswered. Owns all memory that must live until the answer.
class PendingCall {
 public:
  explicit PendingCall(Operation operation) : operation_(std::move(operation)) {}
  virtual ~PendingCall() = default;

  bool done() const { return operation_.done(); }
  // Null if the worker does not wait in the call. Otherwise it makes no other call until they are done.
  virtual CallSteps* steps() { return nullptr; }
  // Waits if necessary, then checks the answer. Throws HistoryViolation.
  void finish() {
    try {
      operation_.wait();
    } catch (const UserCodeFailed& error) {
      if (failed(error)) return;
      throw;
    } catch (const OutOfMemory& error) {
      if (failed(error)) return;
      throw;
    }
    answered();
  }

 protected:
  virtual void answered() {}
  // Whether the call may fail with this error.
  virtual bool failed(const Error&) { return false; }
  void set_operation(Operation operation) { operation_ = std::move(operation); }
  // For destructors of the memory that the answer would be written to.
  void detach() { operation_ = Operation(); }

 private:
  Operation operation_;
};

// Used by one worker's thread.
class TableClient {
 public:
  virtual ~TableClient() = default;
  virtual std::uint64_t keys() const = 0;
  virtual TableId table() const = 0;
  // The server's name of the key with this number.
  virtual Key name(Key key) const = 0;
  // Makes the call and returns it, finished or not. pull_if_local and update_if_local use only the first key
  // and return null. Leases, intents and syncs are no calls of a table. Throws HistoryViolation.
  virtual std::unique_ptr<PendingCall> call(Call call, std::span<const Key> keys) = 0;

  // --- leases, which may include keys of other tables The keys in the form that a lease takes. The result
  // refers to the client until the next such call.
  virtual LeaseKeys lease_keys(std::span<const Key> keys) = 0;
  // Reads and changes one key of the last lease_keys. `lease` holds the key.
  virtual void touch(const Lease& lease, std::size_t position) = 0;
  // Called when the lease has ended.
  virtual void lease_over() {}
  // Whether the last lease may be refused with this error.
  virtual bool expects_refusal(const Error&) { return false; }
};

}  // namespace lapse::test
