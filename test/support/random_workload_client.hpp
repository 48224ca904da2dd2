// What a random workload does on one table, with the history it keeps.
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

enum class Call { pull, push, set, localize, pull_if_local, update_if_local, call, lease, intent, sync };
inline constexpr int kCalls = 10;

std::string_view to_string(Call call);

// A call whose operation may be unanswered, with everything that must live until then.
class PendingCall {
 public:
  explicit PendingCall(Operation operation) : operation_(std::move(operation)) {}
  virtual ~PendingCall() = default;

  bool done() const { return operation_.done(); }
  // Waits if need be, then checks what was seen. Throws HistoryViolation.
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
  // Whether the call may fail so.
  virtual bool failed(const Error&) { return false; }
  void set_operation(Operation operation) { operation_ = std::move(operation); }
  // For destructors of what the answer would be written to.
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
  // What the server calls the key with this number.
  virtual Key name(Key key) const = 0;
  // Makes the call and returns it, finished or not. pull_if_local and update_if_local use the first key only,
  // and return null; leases, intents and syncs are no calls of a table. Throws HistoryViolation.
  virtual std::unique_ptr<PendingCall> call(Call call, std::span<const Key> keys) = 0;

  // --- leases, together with other tables
  // The keys as a lease wants them; refers to the client until the next such call.
  virtual LeaseKeys lease_keys(std::span<const Key> keys) = 0;
  // Reads and changes one key of the last lease_keys, which `lease` holds.
  virtual void touch(const Lease& lease, std::size_t position) = 0;
  // Whether the last lease may be refused so.
  virtual bool expects_refusal(const Error&) { return false; }
};

}  // namespace lapse::test
