// Assigning (history_assignments.hpp) through a worker.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lapse/ps/worker.hpp"
#include "test/support/history_assignments.hpp"
#include "test/support/random_workload_client.hpp"

namespace lapse::test {

// On a table of length Assignment::kLength, zero at the start, whose update rule is assign.
class AssignmentClient final : public TableClient {
 public:
  AssignmentClient(Worker& worker, const Table<std::int64_t>& table, AssignmentLog& log)
      : worker_(worker), table_(table), log_(log) {}

  std::uint64_t keys() const override { return table_.keys(); }
  std::unique_ptr<PendingCall> call(Call call, std::span<const Key> keys) override;

 private:
  class PendingPull;

  std::unique_ptr<PendingCall> pull(std::span<const Key> keys);
  std::unique_ptr<PendingCall> write(Call call, std::span<const Key> keys);
  void pull_if_local(Key key);
  void update_if_local(Key key);

  Worker& worker_;
  const Table<std::int64_t> table_;
  AssignmentLog& log_;
};

}  // namespace lapse::test
