// Tables that are saved by some ranks and loaded by others.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "test/mpi/server_expect.hpp"

namespace lapse::test {

// Collective over all ranks of MPI_COMM_WORLD. A temporary folder, removed with its contents.
class SharedFolder {
 public:
  SharedFolder() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    std::array<char, 256> name{};
    if (rank_ == 0) {
      const std::string pattern = (std::filesystem::temp_directory_path() / "lapse-test-XXXXXX").string();
      std::ranges::copy(pattern, name.begin());
      if (::mkdtemp(name.data()) == nullptr) name[0] = '\0';
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name.data();
  }
  ~SharedFolder() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (rank_ == 0 && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  // The folder of the checkpoints. The first save makes it.
  std::string path() const { return path_ + "/checkpoints"; }

 private:
  int rank_ = 0;
  std::string path_;
};

// Tables of all kinds: lengths, states, element types and homes.
struct SavedTables {
  explicit SavedTables(ParameterServer& server)
      : factors(server.create_table<float>({.name = "factors",
                                            .keys = 700,
                                            .length = 5,
                                            .initialiser = Initialiser::uniform(-1, 1),
                                            .seed = 9,
                                            .update_rule = UpdateRule::adagrad()})),
        counts(server.create_table<std::int64_t>({.name = "counts",
                                                  .keys = 300,
                                                  .lengths = [](Key key) { return key.value() % 7 + 1; },
                                                  .home = HomeMapKind::range})),
        words(server.create_table<double>({.name = "words",
                                           .sparse = true,
                                           .length = 2,
                                           .initialiser = Initialiser::constant(0.5),
                                           .update_rule = UpdateRule::adam()})),
        names(server.create_table<std::int32_t>(
            {.name = "names", .sparse = true, .lengths = [](Key key) { return key.value() % 3 + 1; }})),
        long_rows(server.create_table<float>(
            {.name = "long", .keys = 3, .length = 20000, .update_rule = UpdateRule::rowwise_adagrad()})) {}

  void add_to(Checkpoints& checkpoints) const {
    checkpoints.add(factors);
    checkpoints.add(counts);
    checkpoints.add(words);
    checkpoints.add(names);
    checkpoints.add(long_rows);
  }

  // Every worker pushes to every key. The update depends on the key and the element.
  void push_to_all(Worker& worker, std::int64_t what) const {
    push(worker, factors, key_range(0, factors.keys()), what);
    push(worker, counts, key_range(0, counts.keys()), what);
    push(worker, words, sparse_keys(), what);
    push(worker, names, sparse_keys(), what);
    push(worker, long_rows, key_range(0, long_rows.keys()), what);
    worker.wait_all();
  }
  // Moves some keys to this rank.
  void move_some(Worker& worker) const {
    move(worker, factors, key_range(0, factors.keys()));
    move(worker, counts, key_range(0, counts.keys()));
    move(worker, words, sparse_keys());
    move(worker, long_rows, key_range(0, long_rows.keys()));
  }
  // All values of all tables.
  std::vector<double> values(Worker& worker) const {
    std::vector<double> all;
    append_values(worker, factors, key_range(0, factors.keys()), all);
    append_values(worker, counts, key_range(0, counts.keys()), all);
    append_values(worker, words, sparse_keys(), all);
    append_values(worker, names, sparse_keys(), all);
    append_values(worker, long_rows, key_range(0, long_rows.keys()), all);
    return all;
  }

  static std::vector<Key> sparse_keys() {
    std::vector<Key> keys{Key(0), Key(1), Key(UINT64_MAX)};
    while (keys.size() < 400) keys.emplace_back(mix_bits(keys.size()));
    return keys;
  }

  Table<float> factors;
  Table<std::int64_t> counts;
  Table<double> words;
  Table<std::int32_t> names;
  Table<float> long_rows;

 private:
  template <class T>
  static std::size_t elements(const Table<T>& table, const std::vector<Key>& keys) {
    std::size_t sum = 0;
    for (const Key key : keys) sum += table.length(key);
    return sum;
  }
  template <class T>
  static void push(Worker& worker, const Table<T>& table, const std::vector<Key>& keys, std::int64_t what) {
    std::vector<T> updates(elements(table, keys));
    for (std::size_t i = 0; i < updates.size(); ++i)
      updates[i] = static_cast<T>(static_cast<std::int64_t>(i % 11) - 5 + what);
    worker.push(table, keys, updates);
  }
  template <class T>
  static void move(Worker& worker, const Table<T>& table, const std::vector<Key>& keys) {
    std::vector<Key> some;
    for (const Key key : keys)
      if (key.value() % 5 == static_cast<std::uint64_t>(worker.rank().value()) % 5) some.push_back(key);
    worker.localize(table, some).wait();
  }
  template <class T>
  static void append_values(Worker& worker, const Table<T>& table, const std::vector<Key>& keys,
                            std::vector<double>& all) {
    std::vector<T> values(elements(table, keys));
    worker.pull(table, keys, values).wait();
    for (const T value : values) all.push_back(static_cast<double>(value));
  }
};

// Collective over the ranks of the server. Returns, on rank 0, the values that worker 0 pulls, with `pushed`
// after one push of its own to every key; empty on other ranks. Equal values and states give equal results.
inline std::vector<double> observed_values(ParameterServer& server, const SavedTables& tables, bool pushed) {
  std::vector<double> values;
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() != 0) return;
    if (pushed) tables.push_to_all(worker, 1);
    values = tables.values(worker);
  });
  return values;
}

}  // namespace lapse::test
