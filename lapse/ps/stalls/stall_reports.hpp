// Logs waits of a rank that take too long.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/log.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/stalls/stall_inquiry.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/stalls/collective_reporter.hpp"
#include "lapse/ps/stalls/peers.hpp"
#include "lapse/ps/stalls/stall_text.hpp"
#include "lapse/ps/stalls/stall_watch.hpp"
#include "lapse/store/words/latch_watch.hpp"
#include "lapse/transport/engine/progress_engine.hpp"
#include "lapse/transport/gather_watch.hpp"

namespace lapse {

class WorkerEndpoint;

// A waiting worker, and the parts that answer its questions.
struct WaitingWorker {
  WorkerEndpoint& endpoint;
  std::uint64_t number = 0;  // in its group
  CollectiveReporter& reporter;
  StallInquiry& inquiry;
  ProgressEngine& engine;
  Level level = 0;  // StallSubject::level: that it waits for
};

// One for a server. A report is a warning: it never throws and ends nothing. A wait is reported again after
// each `limit`; with a limit of 0, never.
//
// Thread safety: any thread; set_peers and watch_latches while no engine runs.
class StallReports {
 public:
  StallReports(Rank self, std::chrono::seconds limit, Logger& logger);
  ~StallReports();
  StallReports(const StallReports&) = delete;
  StallReports& operator=(const StallReports&) = delete;

  void set_peers(Peers peers) { peers_ = std::move(peers); }
  std::chrono::seconds limit() const { return limit_; }

  // Called by a worker that has waited for `waited`. Asks the engines for the reason, driving this rank's
  // meanwhile, and reports it; returns without a report once ended() is true. A wait for other workers is
  // reported by one worker of the rank for all: the first that has waited long.
  void report_worker(const WaitingWorker& worker, StallDuration waited, std::string_view what,
                     StallSubject subject, const std::function<bool()>& ended) noexcept;

  // If no rank is missing, reports only if a rank is halted.
  void report_call(std::string_view call, StallDuration waited, std::span<const Rank> missing) const noexcept;
  // Other ranks may have to work longer than this one. Reports only if a rank is stopped or has ended, or one
  // of `unstopped` has not called stop_progress though no thread is attached there.
  void report_phase_end(StallDuration waited, std::span<const AbsentWorker> unstopped) const noexcept;
  void watch_latches(TableShard& table);

 private:
  class Latches;

  static void ask(StallQuestion& question, const WaitingWorker& worker, StallSubject subject);
  std::vector<SeenRank> see(std::span<const Rank> ranks) const;
  std::vector<SeenRank> seen_with_answers(const StallQuestion& question) const;
  // Returns an empty text unless a rank is stopped or has ended.
  std::string halted_text(std::string_view where, StallDuration waited) const;
  // Returns true if this thread is the one to report a wait of many threads.
  bool is_first(std::atomic<StallDuration::rep>& last_report) const;

  const Rank self_;
  const std::chrono::seconds limit_;
  Logger& logger_;
  Peers peers_;
  std::vector<std::unique_ptr<Latches>> latches_;  // by table
};

// Reports a wait in a collective call of the control plane.
class CallWatch final : public GatherWatch {
 public:
  // If `reports` is null, reports nothing.
  CallWatch(const StallReports* reports, std::string_view call) : reports_(reports), call_(call) {}

  Duration patience() const override { return reports_ == nullptr ? Duration::zero() : reports_->limit(); }
  void report(Duration waited, std::span<const Rank> missing) noexcept override {
    reports_->report_call(call_, waited, missing);
  }

 private:
  const StallReports* reports_;
  std::string_view call_;
};

}  // namespace lapse
