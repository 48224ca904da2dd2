// Checkpoints that lapse-checkpoint makes from arrays load like saved ones.
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/checkpoint_tool/convert.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kKeys = 300;
constexpr std::size_t kLength = 3;

struct Tables {
  explicit Tables(ParameterServer& server)
      : dense(server.create_table<float>(
            {.name = "dense", .keys = kKeys, .length = kLength, .update_rule = UpdateRule::adagrad()})),
        sparse(server.create_table<std::int64_t>({.name = "sparse", .sparse = true, .length = 2})) {}

  // Called on one rank: pushes, and returns the values.
  std::vector<double> push(Worker& worker, float update) const {
    const std::vector<Key> keys = key_range(0, kKeys);
    worker.push(dense, keys, std::vector<float>(kKeys * kLength, update)).wait();
    worker.push(sparse, keys, std::vector<std::int64_t>(kKeys * 2, static_cast<std::int64_t>(update))).wait();
    std::vector<float> values(kKeys * kLength);
    worker.pull(dense, keys, values).wait();
    std::vector<std::int64_t> numbers(kKeys * 2);
    worker.pull(sparse, keys, numbers).wait();
    std::vector<double> all(values.begin(), values.end());
    all.insert(all.end(), numbers.begin(), numbers.end());
    return all;
  }

  Table<float> dense;
  Table<std::int64_t> sparse;
};

// Converts one table of the checkpoint to arrays, and the arrays to a checkpoint in another folder.
void convert(const std::string& folder, const std::string& table, bool has_state, bool has_keys) {
  const CheckpointFolder source(folder);
  const std::string prefix = folder + "/" + table;
  apps::ToArrays to;
  to.tables = {table};
  to.output = prefix + "-values.npy";
  if (has_keys) to.keys = prefix + "-keys.npy";
  if (has_state) to.state = prefix + "-state.npy";
  apps::convert_to_arrays(source, source.manifest(1), to);
  apps::FromArrays from;
  from.values = to.output;
  from.keys = to.keys;
  from.state = to.state;
  from.table = table;
  from.rule = has_state ? "adagrad" : "add";
  from.step = 7;
  apps::convert_from_arrays(CheckpointFolder(prefix), from);
}

// Loads the one table in a folder. `is_right` checks the values of both tables after one more update.
void expect_loaded(const std::string& folder, const std::function<void(Checkpoints&, const Tables&)>& add,
                   const std::function<bool(std::span<const double>)>& is_right) {
  ParameterServer server(MPI_COMM_WORLD);
  const Tables tables(server);
  Checkpoints checkpoints(server, {.folder = folder});
  add(checkpoints, tables);
  CHECK(checkpoints.load().step == 7);
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() != 0) return;
    expect(is_right(tables.push(worker, 2)), "the values behind one more update");
  });
  server.close();
}

}  // namespace

TEST_CASE("A checkpoint that was made of arrays is loaded, with states") {
  const SharedFolder folder;
  std::vector<double> expected;
  {
    ParameterServer server(MPI_COMM_WORLD);
    const Tables tables(server);
    server.run_workers(1, [&](Worker& worker) {
      if (worker.index() == 0) tables.push(worker, 3);
    });
    Checkpoints checkpoints(server, {.folder = folder.path()});
    checkpoints.add(tables.dense);
    checkpoints.add(tables.sparse);
    checkpoints.save(1);
    server.run_workers(1, [&](Worker& worker) {
      if (worker.index() == 0) expected = tables.push(worker, 2);
    });
    if (server.rank() == Rank(0)) {
      convert(folder.path(), "dense", true, false);
      convert(folder.path(), "sparse", false, true);
    }
    server.close();
  }
  const std::span<const double> all(expected);
  const std::size_t dense = kKeys * kLength;
  expect_loaded(
      folder.path() + "/dense", [](Checkpoints& to, const Tables& from) { to.add(from.dense); },
      [&](std::span<const double> now) { return std::ranges::equal(now.first(dense), all.first(dense)); });
  expect_loaded(
      folder.path() + "/sparse", [](Checkpoints& to, const Tables& from) { to.add(from.sparse); },
      [&](std::span<const double> now) {
        return std::ranges::equal(now.subspan(dense), all.subspan(dense));
      });
}
