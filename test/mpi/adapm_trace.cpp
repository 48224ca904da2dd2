// The contents of a trace of single keys, and its completeness.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using Catch::Matchers::Contains;
using lapse::Clock;
using lapse::Key;
using lapse::test::expect;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kKeys = 60;

// A prefix for the trace files that the ranks write. The object removes them.
class TraceFiles {
 public:
  TraceFiles() {
    int number = getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const char* const folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/adapm-trace-" + std::to_string(number);
  }
  ~TraceFiles() { std::remove(mine().c_str()); }
  TraceFiles(const TraceFiles&) = delete;
  TraceFiles& operator=(const TraceFiles&) = delete;

  const std::string& path() const { return path_; }
  std::string mine() const {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return path_ + "." + std::to_string(rank);
  }
  std::vector<std::string> lines() const {
    std::ifstream file(mine());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::string path_;
};

// The number after `"name": ` in a line; 0 if there is none.
double number(const std::string& line, const std::string& name) {
  const std::size_t at = line.find("\"" + name + "\": ");
  return at == std::string::npos ? 0 : std::strtod(line.c_str() + at + name.size() + 4, nullptr);
}
bool says(const std::string& line, const std::string& text) {
  return line.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("A trace has every want, change of role and access of a traced key, and nothing of others") {
  const TraceFiles files;
  Options options = Options::from_environment();
  options.trace_keys = "counts:7,9;absent:1";
  options.trace_file = files.path();
  constexpr std::int64_t kClocks = 30;
  {
    ParameterManager manager(MPI_COMM_WORLD, options);
    const auto table = manager.create_table<std::int64_t>({.name = "counts", .keys = kKeys});
    manager.run_workers(2, [&](IntentWorker& worker) {
      std::vector<std::int64_t> values(kKeys);
      const auto keys = key_range(0, kKeys);
      for (std::int64_t clock = 0; clock < kClocks; ++clock) {
        if (clock % 10 == 0) worker.intent(table, keys, Clock(clock), Clock(clock + 5));
        worker.pull(table, keys, values).wait();
        worker.push(table, Key(7), std::vector<std::int64_t>{1});
        worker.update_if_local(table, Key(9), [](std::span<std::int64_t> value) { value[0] += 0; });
        worker.advance_clock();
      }
      worker.sync_barrier();
    });
    std::int64_t sum = 0;
    manager.run_workers(1, [&](IntentWorker& worker) {
      std::vector<std::int64_t> value(1);
      worker.pull(table, Key(7), value).wait();
      sum = value[0];
    });
    CHECK(sum == 2 * kClocks * manager.ranks());
    manager.close();
  }
  double before = 0;
  std::uint64_t accesses = 0;
  std::map<int, int> wants;  // by key: wants that have begun and not ended
  std::map<int, std::string> roles;
  for (const std::string& line : files.lines()) {
    INFO(line);
    REQUIRE(says(line, "\"table\": \"counts\""));
    const int key = static_cast<int>(number(line, "key"));
    CHECK((key == 7 || key == 9));
    CHECK(number(line, "time") >= before);
    before = number(line, "time");
    if (says(line, "\"event\": \"start\"")) {
      CHECK(roles[key].empty());
      roles[key] = says(line, "\"role\": \"owner\"") ? "owner" : "absent";
    } else if (says(line, "\"event\": \"role\"")) {
      // Each role begins when the previous one ends.
      CHECK_THAT(line, Contains("\"from\": \"" + roles[key] + "\""));
      const std::size_t to = line.find("\"to\": \"") + 7;
      roles[key] = line.substr(to, line.find('"', to) - to);
    } else if (says(line, "\"event\": \"want\"")) {
      CHECK(++wants[key] == 1);
    } else if (says(line, "\"event\": \"unwant\"")) {
      CHECK(--wants[key] == 0);
    } else {
      REQUIRE(says(line, "\"event\": \"access\""));
      if (key == 7)
        accesses +=
            static_cast<std::uint64_t>(number(line, "main") + number(line, "copy") + number(line, "remote"));
    }
  }
  CHECK(accesses == 2 * 2 * kClocks + 1);
  for (const auto& [key, role] : roles) CHECK((role == "owner" || role == "absent"));
  for (const auto& [key, count] : wants) CHECK(count == 0);
}

TEST_CASE(
    "A trace of a key that its table does not have, or that cannot be written, is refused on all ranks") {
  const TraceFiles files;
  Options options = Options::from_environment();
  options.trace_keys = "counts:60";
  options.trace_file = files.path();
  {
    ParameterManager manager(MPI_COMM_WORLD, options);
    CHECK_THROWS_WITH(manager.create_table<float>({.name = "counts", .keys = kKeys}),
                      Contains("trace_keys names key 60 of table 'counts', which has 60 keys"));
    manager.close();
  }
  options.trace_file = "/no/such/folder/trace";
  CHECK_THROWS_AS(ParameterManager(MPI_COMM_WORLD, options), lapse::ConfigurationError);
}

TEST_CASE("Statistics are written when the manager is closed, where the options say so") {
  const TraceFiles files;
  Options options = Options::from_environment();
  options.statistics_file = files.path() + ".0";
  {
    ParameterManager manager(MPI_COMM_WORLD, options);
    const auto table = manager.create_table<float>({.name = "weights", .keys = kKeys});
    manager.run_workers(1, [&](IntentWorker& worker) { worker.push(table, Key(1), std::vector<float>{1}); });
    manager.close();
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  const auto lines = files.lines();
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("\"name\": \"weights\"") && Contains("\"intents\": {\"total\""));
}
