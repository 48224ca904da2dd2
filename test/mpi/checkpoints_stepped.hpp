// Checkpoints whose values identify their step, and checks of their errors.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

namespace lapse::test {

// A server with one table. All values equal the step of the checkpoint.
class SteppedTable {
 public:
  explicit SteppedTable(const std::string& folder, std::uint64_t keys = 100)
      : SteppedTable(CheckpointSettings{.folder = folder}, keys) {}
  explicit SteppedTable(const CheckpointSettings& settings, std::uint64_t keys = 100)
      : keys_(keys),
        table_(server_.create_table<float>({.name = "table", .keys = keys})),
        checkpoints_(server_, settings) {
    checkpoints_.add(table_);
  }
  ~SteppedTable() { server_.close(); }
  SteppedTable(const SteppedTable&) = delete;
  SteppedTable& operator=(const SteppedTable&) = delete;

  ParameterServer& server() { return server_; }
  Checkpoints& checkpoints() { return checkpoints_; }
  bool is_last_rank() const { return server_.rank().value() == server_.ranks() - 1; }

  void set(float value) {
    server_.run_workers(1, [&](Worker& worker) {
      if (worker.index() == 0) worker.set(table_, key_range(0, keys_), std::vector<float>(keys_, value));
    });
  }
  void expect_values(float value) {
    server_.run_workers(1, [&](Worker& worker) {
      std::vector<float> values(keys_);
      worker.pull(table_, key_range(0, keys_), values).wait();
      expect(values == std::vector<float>(keys_, value), "values of " + std::to_string(value));
    });
  }
  void save(std::uint64_t step) {
    set(static_cast<float>(step));
    checkpoints_.save(step);
  }

 private:
  std::uint64_t keys_;
  ParameterServer server_{MPI_COMM_WORLD};
  Table<float> table_;
  Checkpoints checkpoints_;
};

// Every rank must throw the error, with the same message.
inline void check_error(CheckpointError::Reason reason, const std::string& part,
                        const std::function<void()>& f) {
  std::optional<CheckpointError::Reason> thrown;
  std::string text;
  try {
    f();
  } catch (const CheckpointError& error) {
    thrown = error.reason();
    text = error.what();
  }
  INFO(text);
  CHECK(thrown == reason);
  CHECK(contains(text, part));
}

}  // namespace lapse::test
