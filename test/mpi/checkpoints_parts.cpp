// Loading parts of checkpoints, and converting their values.
#include <mpi.h>

#include <limits>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"
#include "test/support/floating_point_traps.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

template <class T>
std::vector<T> all_values(ParameterServer& server, const Table<T>& table, const std::vector<Key>& keys) {
  std::vector<T> values;
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() != 0) return;
    std::vector<T> own(keys.size() * table.length());
    worker.pull(table, keys, own).wait();
    values = own;
  });
  return values;
}

template <class T>
void set_all(ParameterServer& server, const Table<T>& table, const std::vector<Key>& keys,
             const std::vector<T>& values) {
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() == 0) worker.set(table, keys, values);
  });
}

template <class T>
void push_all(ParameterServer& server, const Table<T>& table, const std::vector<Key>& keys, T update) {
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() == 0) worker.push(table, keys, std::vector<T>(keys.size() * table.length(), update));
  });
}

// The message of the CheckpointError with reason mismatch.
template <class F>
std::string mismatch(F&& f) {
  try {
    f();
  } catch (const CheckpointError& error) {
    return error.reason() == CheckpointError::Reason::mismatch ? error.what() : "another reason";
  }
  return "none";
}

}  // namespace

TEST_CASE("A range of keys is loaded, other keys stay, and little else is read") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  constexpr std::uint64_t kKeys = 80000;
  constexpr std::uint64_t kFirst = 15000;
  constexpr std::uint64_t kLast = 68000;
  constexpr std::size_t kLength = 64;
  const auto dense = server.create_table<float>({.name = "dense", .keys = kKeys, .length = kLength});
  const auto sparse = server.create_table<std::int64_t>({.name = "sparse", .sparse = true, .length = 2});
  const auto other = server.create_table<std::int64_t>({.name = "other", .keys = 5});
  const std::vector<Key> keys = key_range(0, kKeys);
  const std::vector<Key> few = SavedTables::sparse_keys();
  const auto push = [&] {
    push_all<float>(server, dense, keys, 1);
    push_all<std::int64_t>(server, sparse, few, 1);
    push_all<std::int64_t>(server, other, key_range(0, 5), 1);
  };
  Checkpoints checkpoints(server, {.folder = folder.path()});
  checkpoints.add(dense);
  checkpoints.add(sparse);
  checkpoints.add(other);
  push();
  checkpoints.save(1);
  push();
  const LoadedCheckpoint loaded =
      checkpoints.load({.tables = {{.table = "dense", .first_key = kFirst, .last_key = kLast}}});
  std::uint64_t read = loaded.bytes_read;
  MPI_Allreduce(MPI_IN_PLACE, &read, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const std::uint64_t needed = (kLast - kFirst + 1) * (kLength * sizeof(float) + 8);
  CHECK(read >= needed);
  CHECK(static_cast<double>(read) <= 1.1 * static_cast<double>(needed));
  // No rank reads much more than the others.
  CHECK(static_cast<double>(loaded.bytes_read) <=
        1.5 * static_cast<double>(needed) / server.ranks() + 200000);
  const std::vector<float> values = all_values(server, dense, keys);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t key = i / kLength;
    wrong += values[i] == (key >= kFirst && key <= kLast ? 1.0F : 2.0F) ? 0 : 1;
  }
  CHECK(wrong == 0);
  if (server.rank() == Rank(0)) {
    CHECK(all_values(server, other, key_range(0, 5)) == std::vector<std::int64_t>(5, 2));
  } else {
    all_values(server, other, key_range(0, 5));
  }

  const std::uint64_t middle = std::uint64_t{1} << 63;
  checkpoints.load({.tables = {{.table = "sparse", .first_key = middle}}});
  const std::vector<std::int64_t> numbers = all_values(server, sparse, few);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    REQUIRE(numbers[i] == (few[i / 2].value() >= middle ? 1 : 2));
  // a single key
  push();
  checkpoints.load({.tables = {{.table = "dense", .first_key = 7, .last_key = 7},
                               {.table = "other", .first_key = 4, .last_key = 4}}});
  const auto two = all_values(server, dense, {Key(7), Key(8)});
  const auto five = all_values(server, other, key_range(0, 5));
  if (server.rank() == Rank(0)) {
    CHECK(two[0] == 1.0F);
    CHECK(two[kLength] == 3.0F);
    CHECK(five == std::vector<std::int64_t>{3, 3, 3, 3, 1});
  }
  server.close();
}

TEST_CASE("A table grows: known keys continue with their state, others as the initialiser makes them") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  const auto make = [&](const std::string& name, std::uint64_t count) {
    return server.create_table<float>({.name = name,
                                       .keys = count,
                                       .length = 2,
                                       .initialiser = Initialiser::uniform(-1, 1),
                                       .seed = 7,
                                       .update_rule = UpdateRule::adagrad()});
  };
  constexpr std::uint64_t kSaved = 50;
  constexpr std::uint64_t kGrown = 83;
  const auto known = make("known", kSaved);
  push_all(server, known, key_range(0, kSaved), 0.5F);
  {
    Checkpoints saver(server, {.folder = folder.path()});
    saver.add(known);
    saver.save(1);
  }
  const auto grown = make("grown", kGrown);
  const auto expected = make("expected", kGrown);
  push_all(server, expected, key_range(0, kSaved), 0.5F);
  Checkpoints checkpoints(server, {.folder = folder.path()});
  checkpoints.add(grown, "known");
  CHECK(contains(mismatch([&] { checkpoints.load(); }), "50 keys in the checkpoint, but 83 keys"));
  const LoadRequest request{.grow = true};
  checkpoints.load(request);
  // Of all keys, also by what the next push makes of the states.
  for (int round = 0; round < 2; ++round) {
    CHECK(all_values(server, grown, key_range(0, kGrown)) ==
          all_values(server, expected, key_range(0, kGrown)));
    push_all(server, grown, key_range(0, kGrown), 0.25F);
    push_all(server, expected, key_range(0, kGrown), 0.25F);
  }
  // The grown table is saved like any other, and no table shrinks.
  checkpoints.save(2);
  checkpoints.load();
  Checkpoints smaller(server, {.folder = folder.path()});
  smaller.add(known);
  CHECK(contains(mismatch([&] { smaller.load(request); }), "83 keys in the checkpoint, but 50 keys"));
  server.close();
}

TEST_CASE("Values without state begin anew, also with another rule") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  const std::vector<Key> keys = key_range(0, 40);
  const auto make = [&](const std::string& name, const UpdateRule& rule) {
    return server.create_table<float>({.name = name, .keys = 40, .length = 3, .update_rule = rule});
  };
  const auto saved = make("saved", UpdateRule::adagrad({.learning_rate = 0.1}));
  push_all(server, saved, keys, 0.5F);
  push_all(server, saved, keys, 0.25F);
  Checkpoints saver(server, {.folder = folder.path()});
  saver.add(saved);
  saver.save(1);
  const std::vector<float> values = all_values(server, saved, keys);
  for (const UpdateRule& rule : {UpdateRule::adagrad({.learning_rate = 0.1}), UpdateRule::adam(),
                                 UpdateRule::ftrl(), UpdateRule::add()}) {
    INFO(rule.to_string());
    const auto loaded = make("loaded " + rule.name(), rule);
    const auto expected = make("expected " + rule.name(), rule);
    push_all(server, loaded, keys, 2.0F);
    push_all(server, expected, keys, 2.0F);
    Checkpoints checkpoints(server, {.folder = folder.path()});
    checkpoints.add(loaded, "saved");
    if (rule.name() != "adagrad")
      CHECK(contains(mismatch([&] { checkpoints.load(); }), "the update rule adagrad with 3 elements"));
    checkpoints.load({.tables = {{.table = "saved", .state = false}}});
    std::vector<float> all = values;
    if (server.rank() != Rank(0)) all.assign(keys.size() * 3, 0.0F);
    set_all(server, expected, keys, all);
    CHECK(all_values(server, loaded, keys) == all_values(server, expected, keys));
    push_all(server, loaded, keys, 0.5F);
    push_all(server, expected, keys, 0.5F);
    CHECK(all_values(server, loaded, keys) == all_values(server, expected, keys));
  }
  server.close();
}

TEST_CASE("Elements are converted where that is asked for and possible") {
  const SharedFolder folder;
  const FloatingPointTraps traps;  // Impossible conversions are refused, not tried.
  ParameterServer server(MPI_COMM_WORLD);
  const auto floats = server.create_table<float>(
      {.name = "floats", .keys = 50, .length = 2, .update_rule = UpdateRule::adagrad()});
  const auto longs = server.create_table<std::int64_t>({.name = "longs", .sparse = true});
  const std::vector<Key> keys = key_range(0, 50);
  push_all(server, floats, keys, 0.5F);
  push_all<std::int64_t>(server, longs, keys, std::numeric_limits<std::int32_t>::min());
  {
    Checkpoints saver(server, {.folder = folder.path()});
    saver.add(floats);
    saver.add(longs);
    saver.save(1);
    push_all<std::int64_t>(server, longs, {Key(33)}, -1);
    saver.save(2);
  }
  const auto doubles = server.create_table<double>(
      {.name = "doubles", .keys = 50, .length = 2, .update_rule = UpdateRule::adagrad()});
  const auto ints = server.create_table<std::int32_t>({.name = "ints", .sparse = true});
  Checkpoints checkpoints(server, {.folder = folder.path()});
  checkpoints.add(doubles, "floats");
  checkpoints.add(ints, "longs");
  CHECK(contains(mismatch([&] { checkpoints.load({.step = 1}); }),
                 "elements of type float32 in the checkpoint, but elements of type float64"));
  const std::vector<TableLoad> both{{.table = "floats", .convert = true},
                                    {.table = "longs", .convert = true}};
  checkpoints.load({.step = 1, .tables = both});
  // with the optimizer state
  push_all(server, floats, keys, 0.5F);
  push_all(server, doubles, keys, 0.5);
  const auto expected = all_values(server, floats, keys);
  const auto found = all_values(server, doubles, keys);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-6));
  const auto numbers = all_values(server, ints, keys);
  if (server.rank() == Rank(0))
    CHECK(numbers == std::vector<std::int32_t>(50, std::numeric_limits<std::int32_t>::min()));
  CHECK(contains(mismatch([&] { checkpoints.load({.step = 2, .tables = both}); }),
                 "key 33 of table 'longs' has the element -2147483649, which is no int32"));

  // Converts back. A double beyond the range of float is refused, an infinite one is not.
  set_all(server, doubles, {Key(4), Key(5)}, {1e39, 1, std::numeric_limits<double>::infinity(), 2});
  checkpoints.save(3);
  Checkpoints back(server, {.folder = folder.path()});
  back.add(floats);
  back.add(longs);
  CHECK(contains(mismatch([&] { back.load({.step = 3, .tables = both}); }),
                 "key 4 of table 'floats' has the element 1e+39, which is no float32"));
  back.load({.step = 3, .tables = {{.table = "floats", .first_key = 5, .convert = true}, both[1]}});
  const auto again = all_values(server, floats, {Key(5)});
  if (server.rank() == Rank(0)) CHECK(again == std::vector<float>{std::numeric_limits<float>::infinity(), 2});

  // Integers are not converted to floating-point numbers.
  Checkpoints wrong(server, {.folder = folder.path()});
  wrong.add(server.create_table<float>({.name = "wrong", .sparse = true}), "longs");
  CHECK(contains(mismatch([&] { wrong.load({.step = 1, .tables = {both[1]}}); }),
                 "elements of type int64 in the checkpoint, but elements of type float32"));
  server.close();
}

TEST_CASE("Requests that mean nothing") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  Checkpoints checkpoints(server, {.folder = folder.path()});
  checkpoints.add(server.create_table<float>({.name = "table", .keys = 5}));
  checkpoints.save(1);
  CHECK(contains(thrown_text<UsageError>([&] { checkpoints.load({.tables = {{.table = "tabel"}}}); }),
                 "no table 'tabel' was added"));
  CHECK(contains(thrown_text<UsageError>([&] {
                   checkpoints.load({.tables = {{.table = "table", .first_key = 2, .last_key = 1}}});
                 }),
                 "the first is behind the last"));
  if (server.ranks() > 1) {
    const bool state = server.rank() == Rank(0);
    CHECK(contains(thrown_text<CollectiveMismatch>(
                       [&] { checkpoints.load({.tables = {{.table = "table", .state = state}}}); }),
                   "load_checkpoint was called differently"));
  }
  checkpoints.load({.tables = {{.table = "table", .first_key = 3}}});
  server.close();
}
