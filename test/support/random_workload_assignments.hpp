// Makes assignments (history_assignments.hpp) through a worker.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lapse/ps/worker.hpp"
#include "test/support/history_assignments.hpp"
#include "test/support/random_workload_client.hpp"
#include "test/support/table_shape.hpp"

namespace lapse::test {

// The table has values of length Assignment::kLength, zero at the start, and the update rule assign.
class AssignmentClient final : public TableClient {
 public:
  AssignmentClient(Worker& worker, const Table<std::int64_t>& table, const TableShape& shape,
                   AssignmentLog& log)
      : worker_(worker), table_(table), shape_(shape), log_(log) {}

  std::uint64_t keys() const override { return shape_.keys; }
  TableId table() const override { return table_.id(); }
  Key name(Key key) const override { return shape_.name(key); }
  std::unique_ptr<PendingCall> call(Call call, std::span<const Key> keys) override;
  LeaseKeys lease_keys(std::span<const Key> keys) override;
  void touch(const Lease& lease, std::size_t position) override;

 private:
  class PendingPull;

  std::unique_ptr<PendingCall> pull(std::span<const Key> keys);
  std::unique_ptr<PendingCall> pull_elements(std::span<const Key> keys);
  std::unique_ptr<PendingCall> write(Call call, std::span<const Key> keys);
  void pull_if_local(Key key);
  void update_if_local(Key key);

  std::vector<Key> names(std::span<const Key> keys) const;

  Worker& worker_;
  const Table<std::int64_t> table_;
  const TableShape shape_;
  AssignmentLog& log_;
  std::vector<Key> leased_;
  std::vector<Key> leased_names_;
};

}  // namespace lapse::test
