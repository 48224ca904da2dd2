#include "bench/large_access.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/plain_large_rows.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kLargeRuns = 20;
constexpr std::size_t kTableBytes = std::size_t{40} << 20;  // of the keys accessed
constexpr std::size_t kRunBytes = std::size_t{40} << 20;    // per run, in at most this many accesses:
constexpr std::size_t kMaxRunAccesses = 5000;

struct LargeValue {
  const char* name;
  std::size_t length;  // floats
};
constexpr LargeValue kLargeValues[] = {
    {"1 KB", 256}, {"4 KB", 1024}, {"40 KB", 10'240}, {"400 KB", 102'400}, {"4 MB", 1'024'000}};
constexpr std::size_t kLargeBatches[] = {1, 10};

class LargeAccess {
 public:
  LargeAccess(Bench& bench, const std::string& prefix, const LargeValue& value)
      : bench_(bench),
        prefix_(prefix),
        value_(value),
        keys_(kTableBytes / (value.length * sizeof(float))),
        server_(MPI_COMM_WORLD, separate_options()),
        // Rank 1 is the home of the upper half.
        table_(server_.create_table<float>(
            {.name = "large", .keys = 2 * keys_, .length = value.length, .home = HomeMapKind::range})),
        plain_(bench.plain(), keys_, keys_, value.length) {}

  static std::string name(const std::string& prefix, const LargeValue& value, bool push, std::size_t batch) {
    std::string name = prefix + (push ? " push " : " pull ") + value.name;
    if (batch > 1) name += " batch " + std::to_string(batch);
    return name;
  }

  void measure(bool push, std::size_t batch) {
    const std::size_t usual =
        std::min(kRunBytes / (value_.length * sizeof(float)), kMaxRunAccesses) / batch * batch;
    const std::size_t accesses = bench_.size(usual, 2 * batch);
    const std::vector<Key> keys = random_keys(keys_, keys_, accesses, 0);
    const auto figure = [&](double seconds) { return 1e9 * seconds / static_cast<double>(accesses); };
    bench_.measure(
        {.name = name(prefix_, value_, push, batch),
         .metric = "latency",
         .unit = "ns",
         .ranks = 2,
         .domain = domain_of(server_.options())},
        kLargeRuns, [&] { return figure(run(push, batch, keys)); }, "rows sent by hand",
        [&] { return figure(push ? plain_.push(keys, batch) : plain_.pull(keys, batch)); });
    expected_ += (bench_.runs(kLargeRuns) + 1) * accesses;
  }

  void close() {
    const TableCounters total = server_.statistics().table_total(table_.id());
    server_.close();
    expect_count("remote accesses", total.remote_pulls + total.remote_pushes, expected_);
  }

 private:
  // Collective. Returns the seconds of rank 0 for all keys.
  double run(bool push, std::size_t batch, std::span<const Key> keys) {
    double seconds = 0;
    server_.run_workers(1, [&](Worker& worker) {
      std::vector<float> values(batch * value_.length, 1.0F);
      worker.barrier();
      if (worker.rank() == Rank(0)) {
        const Clock::time_point begin = Clock::now();
        for (; !keys.empty(); keys = keys.subspan(batch)) {
          if (push) {
            worker.push(table_, keys.first(batch), values).wait();
          } else {
            worker.pull(table_, keys.first(batch), values).wait();
          }
        }
        seconds = seconds_between(begin, Clock::now());
      }
      worker.barrier();
    });
    return seconds;
  }

  Bench& bench_;
  std::string prefix_;
  LargeValue value_;
  std::uint64_t keys_;
  ParameterServer server_;
  Table<float> table_;
  PlainLargeRows plain_;
  std::uint64_t expected_ = 0;
};

}  // namespace

void measure_large_access(Bench& bench, const std::string& prefix) {
  for (const LargeValue& value : kLargeValues) {
    const auto for_each_selected = [&](auto&& f) {
      for (const std::size_t batch : kLargeBatches) {
        for (const bool push : {false, true}) {
          if (bench.selected(LargeAccess::name(prefix, value, push, batch))) f(push, batch);
        }
      }
    };
    bool any = false;
    for_each_selected([&](bool, std::size_t) { any = true; });
    if (!any) continue;
    LargeAccess access(bench, prefix, value);
    for_each_selected([&](bool push, std::size_t batch) { access.measure(push, batch); });
    access.close();
  }
}

}  // namespace lapse::bench
