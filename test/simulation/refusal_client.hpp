// Counts through a worker, on a table whose keys cannot always be made or stored.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lapse/ps/worker.hpp"
#include "test/simulation/refusals.hpp"
#include "test/support/random_workload_client.hpp"
#include "test/support/random_workload_counters.hpp"
#include "test/support/table_shape.hpp"

namespace lapse::test {

// Pulls, pushes and calls use one key each: the error of a call on several keys does not name all that
// failed.
//
// Throws HistoryViolation for failures that must not happen: of a pull, push or call on a key that exists, of
// a pull for lack of memory, or without table, key and rank in the message. A localize or a lease may fail
// for lack of memory for a key that exists, or join a request that the home refused before the key existed.
class RefusalClient final : public TableClient {
 public:
  using Value = double;

  RefusalClient(Worker& worker, const Table<Value>& table, const CountFunction<Value>& function,
                const TableShape& shape, const CounterLayout& layout, std::size_t index, RefusalLog& log,
                Refusals& refusals)
      : worker_(worker),
        table_(table),
        function_(function),
        shape_(shape),
        layout_(layout),
        index_(index),
        log_(log),
        refusals_(refusals) {}

  std::uint64_t keys() const override { return shape_.keys; }
  TableId table() const override { return table_.id(); }
  Key name(Key key) const override { return shape_.name(key); }
  std::unique_ptr<PendingCall> call(Call call, std::span<const Key> keys) override;
  LeaseKeys lease_keys(std::span<const Key> keys) override;
  void touch(const Lease& lease, std::size_t position) override;
  bool expects_refusal(const Error& error) override;

 private:
  class Pending;
  // What may explain a failure.
  struct Asked {
    std::vector<Key> keys;
    std::vector<bool> existed;     // at the time of the call
    bool moves = false;            // localize or lease
    bool may_lack_memory = false;  // for a key that does not exist
  };

  Asked ask(std::span<const Key> keys, bool moves, bool may_lack_memory = true) const;
  void check(const Asked& asked, const Error& error) const;
  std::unique_ptr<PendingCall> value_call(Call call, Key key);
  std::unique_ptr<PendingCall> localize(std::span<const Key> keys);
  void pull_if_local(Key key);
  void update_if_local(Key key);
  CounterLayout layout(Key key) const {
    return {layout_.workers, layout_.width * shape_.width(shape_.name(key))};
  }
  void succeeded(Key key, std::size_t number, bool pushed, Counts counts);

  Worker& worker_;
  const Table<Value> table_;
  const CountFunction<Value> function_;
  const TableShape shape_;
  const CounterLayout layout_;
  const std::size_t index_;
  RefusalLog& log_;
  Refusals& refusals_;
  std::vector<Key> leased_;
  std::vector<Key> leased_names_;
  Asked lease_asked_;
};

}  // namespace lapse::test
