// Cost of the C interface: random keys of 25 floats, drawn in advance; the baseline is the same call in C++.
//
//   case                   ranks  metric   baseline
//   local pull               1    latency  Worker::pull of one key, waited for
//   local push               1    latency  Worker::push of one key, waited for
//   local pull batch 1000    1    rate     Worker::pull of the same keys in one call
//
// 10,000 keys; 20 runs of 200,000 accesses.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/c/handles.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/lapse.h"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;
constexpr std::size_t kLength = 25;
constexpr std::size_t kRuns = 20;

void check(lapse_status status) {
  if (status != LAPSE_OK) throw Error(lapse_last_error());
}

// One table, used by both interfaces in turn.
class Accesses {
 public:
  explicit Accesses(Bench& bench) : accesses_(bench.size(200'000, 2'000)) {
    const lapse_option quiet[] = {{"lapse.startup_report", "off"}};
    check(lapse_server_create(MPI_COMM_WORLD, quiet, 1, &server_));
    lapse_table_spec spec;
    lapse_table_spec_init(&spec);
    spec.name = "values";
    spec.keys = kKeys;
    spec.length = kLength;
    check(lapse_table_create(server_, &spec, &table_));
    RandomEngine random(1, 2);
    for (std::size_t i = 0; i < accesses_; ++i) keys_.push_back(random.below(kKeys));
  }
  ~Accesses() {
    lapse_server_close(server_);
    lapse_server_free(server_);
  }
  Accesses(const Accesses&) = delete;
  Accesses& operator=(const Accesses&) = delete;

  std::size_t accesses() const { return accesses_; }
  // The seconds of f(worker, table) on one worker.
  template <class F>
  double in_cpp(F&& f) {
    double seconds = 0;
    server_->server().run_workers(1, [&](Worker& worker) {
      const Table<float>& table = std::get<Table<float>>(table_->table);
      const bench::Clock::time_point begin = bench::Clock::now();
      f(worker, table);
      seconds = seconds_between(begin, bench::Clock::now());
    });
    return seconds;
  }
  // The same with f(worker, table) of C handles.
  double in_c(const std::function<void(lapse_worker*, lapse_table*)>& f) {
    struct Call {
      const std::function<void(lapse_worker*, lapse_table*)>& f;
      lapse_table* table;
      double seconds;
    } call{f, table_, 0};
    const auto run = [](lapse_worker* worker, void* context) {
      Call& of = *static_cast<Call*>(context);
      const bench::Clock::time_point begin = bench::Clock::now();
      of.f(worker, of.table);
      of.seconds = seconds_between(begin, bench::Clock::now());
      return 0;
    };
    check(lapse_run_workers(server_, 1, run, &call));
    return call.seconds;
  }
  std::span<const std::uint64_t> keys() const { return keys_; }

 private:
  std::size_t accesses_;
  lapse_server* server_ = nullptr;
  lapse_table* table_ = nullptr;
  std::vector<std::uint64_t> keys_;
};

void measure_c_interface(Bench& bench) {
  Accesses accesses(bench);
  const auto compare = [&](const std::string& name, std::size_t keys_at_once,
                           const std::function<double()>& c, const std::function<double()>& cpp) {
    if (!bench.selected(name)) return;
    const bool is_rate = keys_at_once > 1;
    const auto figure = [&, is_rate](const std::function<double()>& seconds) {
      return [&, is_rate, seconds] {
        const double each = seconds() / static_cast<double>(accesses.accesses());
        return is_rate ? 1e-6 / each : 1e9 * each;
      };
    };
    bench.measure({.name = name,
                   .metric = is_rate ? "rate" : "latency",
                   .unit = is_rate ? "M/s" : "ns",
                   .ranks = 1,
                   .workers = 1},
                  kRuns, figure(c), "C++", figure(cpp));
  };
  std::vector<float> values(1000 * kLength, 1);
  const std::span<float> value(values.data(), kLength);
  compare(
      "local pull", 1,
      [&] {
        return accesses.in_c([&](lapse_worker* worker, lapse_table* table) {
          for (const std::uint64_t& key : accesses.keys())
            check(lapse_pull(worker, table, &key, 1, value.data(), kLength));
        });
      },
      [&] {
        return accesses.in_cpp([&](Worker& worker, const Table<float>& table) {
          for (const std::uint64_t key : accesses.keys()) worker.pull(table, Key(key), value).wait();
        });
      });
  compare(
      "local push", 1,
      [&] {
        return accesses.in_c([&](lapse_worker* worker, lapse_table* table) {
          for (const std::uint64_t& key : accesses.keys())
            check(lapse_push(worker, table, &key, 1, value.data(), kLength));
        });
      },
      [&] {
        return accesses.in_cpp([&](Worker& worker, const Table<float>& table) {
          for (const std::uint64_t key : accesses.keys()) worker.push(table, Key(key), value).wait();
        });
      });
  constexpr std::size_t kBatch = 1000;
  compare(
      "local pull batch 1000", kBatch,
      [&] {
        return accesses.in_c([&](lapse_worker* worker, lapse_table* table) {
          for (std::size_t i = 0; i + kBatch <= accesses.keys().size(); i += kBatch)
            check(
                lapse_pull(worker, table, accesses.keys().data() + i, kBatch, values.data(), values.size()));
        });
      },
      [&] {
        return accesses.in_cpp([&](Worker& worker, const Table<float>& table) {
          const std::span<const Key> keys = c::as_keys(accesses.keys().data(), accesses.keys().size());
          for (std::size_t i = 0; i + kBatch <= keys.size(); i += kBatch)
            worker.pull(table, keys.subspan(i, kBatch), std::span(values)).wait();
        });
      });
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "The C interface beside the same calls in C++", &measure_c_interface);
}
