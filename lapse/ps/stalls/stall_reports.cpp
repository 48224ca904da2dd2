#include "lapse/ps/stalls/stall_reports.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "lapse/protocol/stalls/stall_inquiry.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/ps/stalls/stall_watch.hpp"

namespace lapse {

namespace {

bool is_collective(StallSubject subject) {
  return subject == StallSubject::workers || subject == StallSubject::sync_barrier;
}

// A report must not end the wait that it reports: if memory for it cannot be allocated, logs nothing.
template <class MakeText>
void warn(Logger& logger, MakeText&& make_text) noexcept {
  try {
    const std::string text = make_text();
    if (!text.empty()) logger.warning("{}", text);
  } catch (...) {
    return;
  }
}

}  // namespace

// Watches the waits for latches of one table.
class StallReports::Latches final : public LatchWatch {
 public:
  Latches(const StallReports& reports, const TableShard& table) : reports_(reports), table_(table) {}

  Duration patience() const override { return reports_.limit_; }
  void report(Key key, Duration waited) noexcept override {
    if (!reports_.is_first(last_report_)) return;
    warn(reports_.logger_, [&] {
      const auto members = table_.definition().domains.members(table_.self_domain());
      const std::vector<Rank> halted = reports_.peers_.halted({members.begin(), members.end()});
      return latch_stall_text(reports_.self_, waited, key, table_.name(), reports_.see(halted));
    });
  }

 private:
  const StallReports& reports_;
  const TableShard& table_;
  std::atomic<StallDuration::rep> last_report_{0};
};

StallReports::StallReports(Rank self, std::chrono::seconds limit, Logger& logger)
    : self_(self), limit_(limit), logger_(logger) {}

StallReports::~StallReports() = default;

void StallReports::watch_latches(TableShard& table) {
  latches_.push_back(std::make_unique<Latches>(*this, table));
  table.store().set_latch_watch(latches_.back().get());
}

bool StallReports::is_first(std::atomic<StallDuration::rep>& last_report) const {
  const StallDuration::rep now = std::chrono::steady_clock::now().time_since_epoch().count();
  StallDuration::rep last = last_report.load(std::memory_order_relaxed);
  // Threads that began to wait at about the same time report at about the same time.
  const StallDuration::rep least = StallDuration(limit_).count() / 2;
  return now - last >= least && last_report.compare_exchange_strong(last, now, std::memory_order_relaxed);
}

std::vector<SeenRank> StallReports::see(std::span<const Rank> ranks) const {
  std::vector<SeenRank> seen;
  for (const Rank rank : ranks) seen.push_back({.name = peers_.name(rank), .state = peers_.state(rank)});
  return seen;
}

std::vector<SeenRank> StallReports::seen_with_answers(const StallQuestion& question) const {
  std::vector<Rank> ranks = peers_.halted();
  std::ranges::copy_if(question.silent, std::back_inserter(ranks),
                       [&](Rank rank) { return std::ranges::find(ranks, rank) == ranks.end(); });
  std::ranges::sort(ranks);
  std::vector<SeenRank> seen = see(ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    seen[i].silent = std::ranges::find(question.silent, ranks[i]) != question.silent.end();
  return seen;
}

void StallReports::ask(StallQuestion& question, const WaitingWorker& worker, StallSubject subject) {
  question.collective_calls.reset();
  if (subject == StallSubject::wait_sync) question.collective_calls = 0;  // of every worker
  question.level.reset();
  if (subject == StallSubject::level) question.level = worker.level;
  if (is_collective(subject)) question.collective_calls = question.worker->collective_calls();
  question.group = question.worker->seat().group;
  question.synced = subject == StallSubject::wait_sync || subject == StallSubject::sync_barrier ||
                    subject == StallSubject::level;
  question.asked = StallQuestion::Clock::now();
  question.keys.clear();
  question.further_keys = 0;
  question.absent.clear();
  question.further_absent = 0;
  question.unsynced.clear();
  question.silent.clear();
  question.handler = &worker.inquiry;
  question.finished.store(false, std::memory_order_release);
  worker.engine.submit(question);
}

void StallReports::report_worker(const WaitingWorker& worker, StallDuration waited, std::string_view what,
                                 StallSubject subject, const std::function<bool()>& ended) noexcept {
  WorkerEndpoint& endpoint = worker.endpoint;
  if (is_collective(subject) && !worker.reporter.reports(endpoint)) return;
  warn(logger_, [&]() -> std::string {
    StallQuestion& question = endpoint.stall_question();
    const auto began = StallQuestion::Clock::now() - waited;
    const auto finished = [&] { return question.finished.load(std::memory_order_acquire); };
    // The engine may still have a question of an earlier wait, whose answers are not for this one. Waits for
    // it and asks again.
    bool answered = false;
    do {
      if (finished()) ask(question, worker, subject);
      StallWatch patience{std::chrono::ceil<std::chrono::seconds>(2 * StallInquiry::kPatience)};
      worker.engine.wait(endpoint.bell(), [&] { return finished() || ended() || patience.due(); });
      if (ended()) return {};
      answered = finished();
    } while (answered && question.asked < began);
    WorkerStall stall{.worker = worker.number,
                      .rank = self_,
                      .waited = waited,
                      .what = what,
                      .operations = endpoint.open(),
                      .keys = endpoint.unanswered().total()};
    if (answered) {
      stall.answers = &question;
      stall.ranks = seen_with_answers(question);
      // A localize counts no unanswered keys.
      stall.keys = std::max<std::uint64_t>(stall.keys, question.keys.size() + question.further_keys);
    } else {
      stall.ranks = see(peers_.halted());
    }
    return stall_text(stall);
  });
}

void StallReports::report_call(std::string_view call, StallDuration waited,
                               std::span<const Rank> missing) const noexcept {
  warn(logger_, [&] {
    return missing.empty() ? halted_text("in " + std::string(call), waited)
                           : call_stall_text(self_, waited, call, see(missing));
  });
}

std::string StallReports::halted_text(std::string_view where, StallDuration waited) const {
  const std::vector<Rank> halted = peers_.halted();
  return halted.empty() ? std::string() : halted_stall_text(self_, waited, where, see(halted));
}

void StallReports::report_phase_end(StallDuration waited,
                                    std::span<const AbsentWorker> unstopped) const noexcept {
  warn(logger_, [&]() -> std::string {
    std::vector<SeenRank> seen = see(peers_.halted());
    for (const AbsentWorker& worker : unstopped) {
      const std::string name = peers_.name(worker.rank);
      // An answer lists several workers of a rank one after the other.
      if (seen.empty() || seen.back().name != name)
        seen.push_back({.name = name, .state = peers_.state(worker.rank), .unstopped = true});
    }
    return seen.empty() ? std::string() : halted_stall_text(self_, waited, "at the end of a phase", seen);
  });
}

}  // namespace lapse
