#include "bench/replicas_sync.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstring>
#include <string>
#include <vector>

#include "bench/copied_table.hpp"
#include "bench/support/joint_timer.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kDirtyKeys = 10'000;
constexpr std::size_t kRuns = 20;

// The same, hand-written: every rank has an array of all rows and knows which rank sends which rows.
class PlainCopies {
 public:
  PlainCopies(MPI_Comm communicator, std::size_t keys)
      : communicator_(communicator), keys_(keys), rows_(keys * kLength), base_(keys * kLength) {
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &ranks_);
    buffer_.resize(keys * kRecordBytes);
    // Each row is sent.
    for (std::size_t key = 0; key < keys; ++key) order_.push_back(key);
  }

  // Collective. Returns the seconds of rank 0.
  double refresh() {
    change();
    MPI_Barrier(communicator_);
    const Clock::time_point begin = Clock::now();
    send_rows();
    MPI_Barrier(communicator_);
    return seconds_between(begin, Clock::now());
  }
  double delta() {
    change();
    MPI_Barrier(communicator_);
    const Clock::time_point begin = Clock::now();
    if (rank_ != 0) {
      for (const std::size_t key : order_) {
        float* const record = pack(key);
        for (std::size_t i = 0; i < kLength; ++i)
          record[i] = rows_[key * kLength + i] - base_[key * kLength + i];
      }
      MPI_Send(buffer_.data(), bytes(), MPI_BYTE, 0, 0, communicator_);
    } else {
      for (int holder = 1; holder < ranks_; ++holder) {
        receive(holder, [&](std::size_t key, const float* row) {
          for (std::size_t i = 0; i < kLength; ++i) rows_[key * kLength + i] += row[i];
        });
      }
    }
    send_rows();
    MPI_Barrier(communicator_);
    return seconds_between(begin, Clock::now());
  }
  double barrier() const {
    MPI_Barrier(communicator_);
    const Clock::time_point begin = Clock::now();
    MPI_Barrier(communicator_);
    return seconds_between(begin, Clock::now());
  }

 private:
  // A key of 8 bytes and its row.
  static constexpr std::size_t kRecordBytes = kKeyBytes + kValueBytes;
  int bytes() const { return static_cast<int>(buffer_.size()); }

  void change() {
    for (float& value : rows_) value += 1;
  }
  float* pack(std::size_t key) {
    std::byte* const record = buffer_.data() + key * kRecordBytes;
    const std::uint64_t number = key;
    std::memcpy(record, &number, sizeof number);
    return reinterpret_cast<float*>(record + kKeyBytes);
  }
  template <class F>
  void receive(int from, F&& f) {
    MPI_Recv(buffer_.data(), bytes(), MPI_BYTE, from, 0, communicator_, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < keys_; ++i) {
      const std::byte* const record = buffer_.data() + i * kRecordBytes;
      std::uint64_t key;
      std::memcpy(&key, record, sizeof key);
      f(key, reinterpret_cast<const float*>(record + kKeyBytes));
    }
  }
  // From rank 0 to all others.
  void send_rows() {
    if (rank_ == 0) {
      for (const std::size_t key : order_) std::memcpy(pack(key), &rows_[key * kLength], kValueBytes);
      for (int holder = 1; holder < ranks_; ++holder)
        MPI_Send(buffer_.data(), bytes(), MPI_BYTE, holder, 0, communicator_);
      return;
    }
    receive(0, [&](std::size_t key, const float* row) {
      std::memcpy(&rows_[key * kLength], row, kValueBytes);
      std::memcpy(&base_[key * kLength], row, kValueBytes);
    });
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  int ranks_ = 0;
  std::size_t keys_;
  std::vector<float> rows_;
  std::vector<float> base_;
  std::vector<std::byte> buffer_;
  std::vector<std::size_t> order_;
};

enum class Writers { none, owner, holders };

// Collective. Returns the seconds of rank 0 from when all have written until all have seen it.
double sync(CopiedTable& copied, const std::vector<Key>& keys, Writers writers) {
  double seconds = 0;
  copied.manager().run_workers(1, [&](adapm::IntentWorker& worker) {
    const bool is_owner = worker.rank() == Rank(0);
    if (writers != Writers::none && is_owner == (writers == Writers::owner))
      push_once(worker, copied.table(), keys);
    worker.barrier();
    const Clock::time_point begin = Clock::now();
    worker.sync_barrier();
    seconds = seconds_between(begin, Clock::now());
  });
  return seconds;
}

}  // namespace

void measure_replica_sync(Bench& bench) {
  const int holders = bench.ranks() - 1;
  const std::string suffix = fmt::format(" {} holder{}", holders, holders == 1 ? "" : "s");
  const std::vector<std::string> names{fmt::format("refresh{}", suffix), fmt::format("delta{}", suffix),
                                       "empty sync_barrier"};
  if (std::ranges::none_of(names, [&](const std::string& name) { return bench.selected(name); })) return;
  const std::size_t keys = bench.size(kDirtyKeys, 100);
  CopiedTable copied(keys, kLength);
  copied.make_copies();
  const std::vector<Key> dirty = copied.keys_of(0);
  PlainCopies plain(bench.plain(), keys);
  const auto measure = [&](const std::string& name, Writers writers, const char* baseline_name,
                           auto&& by_hand) {
    if (!bench.selected(name)) return;
    const double parts = writers == Writers::none ? 1 : static_cast<double>(keys);
    bench.measure(
        {.name = name,
         .metric = "latency",
         .unit = "ns",
         .ranks = bench.ranks(),
         .workers = bench.ranks(),
         .domain = domain_of(copied.manager().options().server)},
        kRuns, [&] { return 1e9 * sync(copied, dirty, writers) / parts; }, baseline_name,
        [&] { return 1e9 * by_hand() / parts; });
  };
  const TableCounters before = copied.counted();
  measure(names[0], Writers::owner, "copies by hand", [&] { return plain.refresh(); });
  const TableCounters between = copied.counted();
  measure(names[1], Writers::holders, "copies by hand", [&] { return plain.delta(); });
  const TableCounters after = copied.counted();
  measure(names[2], Writers::none, "MPI_Barrier", [&] { return plain.barrier(); });
  copied.manager().close();
  const std::uint64_t per_series = static_cast<std::uint64_t>(holders) * keys * (bench.runs(kRuns) + 1);
  // Fewer would mean that changes of two runs were merged.
  if (bench.selected(names[0]))
    expect_count("renewals of copies", between.refreshes_out - before.refreshes_out, per_series);
  if (bench.selected(names[1]))
    expect_count("changes of copies", after.deltas_out - between.deltas_out, per_series);
}

}  // namespace lapse::bench
