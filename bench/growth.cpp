// A sparse table grows from 1,000 to 50 million keys of 4 floats, on one rank: one worker pushes new keys,
// 1,000 per call, and waits for each call; at the same time another worker pulls random existing keys, one at
// a time. One run.
//
//   case                     metric    baseline
//   insertions               rate      none   keys per second, the whole growth
//   bytes per key            overhead  none   (slot words + ownership + slabs - values) / keys at the end
//   longest pause writing    pause     none   longest call of the writer, ms
//   longest pause reading    pause     none   longest time between two values of the reader, ms
//
// A CSV file next to the results has a line for each quarter of a second: seconds, keys, insertions per
// second, longest pauses of writer and reader, in ms. Pauses in which the scheduler preempted the thread are
// counted separately and printed: the machine causes them. (Preemption of the thread that works for the
// writer is not detected.)
#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <string>
#include <vector>

#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kFirstKeys = 1000;
constexpr std::uint64_t kKeys = 50'000'000;
constexpr std::uint64_t kSmokeKeys = 20'000;
constexpr std::uint64_t kBatch = 1000;
constexpr std::size_t kElements = 4;
constexpr double kInterval = 0.25;
constexpr std::uint64_t kMinReads = 100;

// The n-th key, spread over 64 bits.
Key nth_key(std::uint64_t n) {
  return Key(mix_bits(n + 1));
}

// Measures pauses of one thread, which calls pass() whenever a call of the server has returned.
class Pauses {
 public:
  explicit Pauses(double intervals_from) : start_(intervals_from) {}

  void pass(double now) {
    const double pause = now - last_;
    last_ = now;
    // Checking every pause would dominate the time. In a short pause, the thread was not preempted.
    if (pause < kCheckedPause) {
      longest_ = std::max(longest_, pause);
      return;
    }
    const long preemptions = preemptions_now();
    const bool preempted = preemptions != preemptions_;
    preemptions_ = preemptions;
    double& longest = preempted ? longest_preempted_ : longest_;
    longest = std::max(longest, pause);
    if (preempted) return;
    const auto interval = static_cast<std::size_t>((now - start_) / kInterval);
    if (by_interval_.size() <= interval) by_interval_.resize(interval + 1);
    by_interval_[interval] = std::max(by_interval_[interval], pause);
  }
  void start(double now) {
    last_ = now;
    preemptions_ = preemptions_now();
  }

  double longest() const { return longest_; }
  double longest_preempted() const { return longest_preempted_; }
  double in_interval(std::size_t interval) const {
    return interval < by_interval_.size() ? by_interval_[interval] : 0;
  }

 private:
  static constexpr double kCheckedPause = 20e-6;  // seconds; shorter pauses are not checked

  static long preemptions_now() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
  }

  double start_;
  double last_ = 0;
  long preemptions_ = 0;
  double longest_ = 0;
  double longest_preempted_ = 0;
  std::vector<double> by_interval_;
};

class Growth {
 public:
  explicit Growth(Bench& bench)
      : bench_(bench),
        server_(MPI_COMM_WORLD, quiet_options()),
        table_(server_.create_table<float>({.name = "growth", .sparse = true, .length = kElements})),
        last_(bench.size(kKeys, kSmokeKeys)),
        writer_(0),
        reader_(0) {}

  void run() {
    server_.run_workers(2, [&](Worker& worker) {
      if (worker.local_index() == 0) push(worker, 0, kFirstKeys);
      worker.barrier();
      if (worker.local_index() == 0) begin_ = Clock::now();
      worker.barrier();
      if (worker.local_index() == 0) {
        write(worker);
      } else {
        read(worker);
      }
    });
    report();
    server_.close();
  }

 private:
  double now() const { return seconds_between(begin_, Clock::now()); }

  void push(Worker& worker, std::uint64_t first, std::uint64_t count) {
    std::array<Key, kBatch> keys;
    std::array<float, kBatch * kElements> updates{};
    for (std::uint64_t i = 0; i < count; ++i) {
      keys[i] = nth_key(first + i);
      updates[i * kElements] = static_cast<float>(first + i);
    }
    worker.push(table_, std::span(keys).first(count), std::span(updates).first(count * kElements)).wait();
    existing_.store(first + count, std::memory_order_release);
  }

  void write(Worker& worker) {
    writer_.start(now());
    for (std::uint64_t keys = kFirstKeys; keys < last_; keys += kBatch) {
      push(worker, keys, std::min(kBatch, last_ - keys));
      const double time = now();
      writer_.pass(time);
      if (time >= kInterval * static_cast<double>(keys_at_.size() + 1)) keys_at_.push_back(keys + kBatch);
    }
    seconds_ = now();
    finished_.store(true, std::memory_order_release);
  }

  void read(Worker& worker) {
    RandomEngine random(1);
    std::array<float, kElements> value{};
    reader_.start(now());
    // Take a minimum, because the scheduler may run this thread only after a short growth.
    while (!finished_.load(std::memory_order_acquire) || reads_ < kMinReads) {
      const std::uint64_t n = random.below(existing_.load(std::memory_order_acquire));
      worker.pull(table_, nth_key(n), value).wait();
      if (value[0] != static_cast<float>(n)) throw UsageError("a key that exists was read wrongly");
      ++reads_;
      reader_.pass(now());
    }
  }

  void report() {
    const ParameterServer::MemoryUse use = server_.memory_use(table_);
    const auto keys = static_cast<double>(last_);
    const double rate = static_cast<double>(last_ - kFirstKeys) / seconds_;
    const double beside = static_cast<double>(use.words + use.ownership + use.slabs - use.values) / keys;
    expect_count("bytes of values", use.values, last_ * kElements * sizeof(float));
    bench_.add({.name = "insertions", .metric = "rate", .unit = "keys/s", .workers = 2}, "",
               {.values = {rate}, .baselines = {}});
    bench_.add({.name = "bytes per key", .metric = "overhead", .unit = "bytes", .workers = 2}, "",
               {.values = {beside}, .baselines = {}});
    bench_.add({.name = "longest pause writing", .metric = "pause", .unit = "ms", .workers = 2}, "",
               {.values = {1e3 * writer_.longest()}, .baselines = {}});
    bench_.add({.name = "longest pause reading", .metric = "pause", .unit = "ms", .workers = 2}, "",
               {.values = {1e3 * reader_.longest()}, .baselines = {}});
    fmt::print(stderr,
               "{} reads; longest pauses when the scheduler took the core away: writing {:.2f} ms, "
               "reading {:.2f} ms\n",
               reads_, 1e3 * writer_.longest_preempted(), 1e3 * reader_.longest_preempted());
    bench_.add_file("csv", table_over_time());
  }

  std::string table_over_time() const {
    std::string text =
        "seconds,keys,insertions per second,longest pause writing (ms),longest pause reading (ms)\n";
    std::uint64_t before = kFirstKeys;
    for (std::size_t i = 0; i < keys_at_.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "{:.2f},{},{:.0f},{:.4f},{:.4f}\n",
                     kInterval * static_cast<double>(i + 1), keys_at_[i],
                     static_cast<double>(keys_at_[i] - before) / kInterval, 1e3 * writer_.in_interval(i),
                     1e3 * reader_.in_interval(i));
      before = keys_at_[i];
    }
    return text;
  }

  Bench& bench_;
  ParameterServer server_;
  Table<float> table_;
  std::uint64_t last_;
  Clock::time_point begin_;
  // Written by the writer, read by both.
  std::atomic<std::uint64_t> existing_{0};
  std::atomic<bool> finished_{false};
  // Used only by the writer.
  Pauses writer_;
  std::vector<std::uint64_t> keys_at_;  // after each interval
  double seconds_ = 0;
  // Used only by the reader.
  Pauses reader_;
  std::uint64_t reads_ = 0;
};

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Growth of a sparse table", [](Bench& bench) { Growth(bench).run(); });
}
