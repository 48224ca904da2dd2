#include "lapse/jobs/job_control.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <system_error>

#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/core/process/signal_watch.hpp"
#include "lapse/ps/agreement/archive.hpp"

namespace lapse {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr const char* kDeadlineVariable = "SLURM_JOB_END_TIME";
// In the year 2255: nanoseconds until then fit into 64 bits.
constexpr std::int64_t kLastSecond = 9'000'000'000;

// For comparing and adding times that an application may choose freely: no sum or conversion overflows.
// Nanoseconds overflow after 292 years.
using Seconds = std::chrono::duration<double>;

// Returns the deadline in the environment. Ignores a past time: it belongs to another job, whose environment
// this one has inherited. Throws ConfigurationError.
std::optional<std::chrono::system_clock::time_point> slurm_deadline(const ParameterServer& server) {
  using std::chrono::system_clock;
  const char* const text = std::getenv(kDeadlineVariable);  // NOLINT(concurrency-mt-unsafe)
  const std::string_view digits = text == nullptr ? "" : text;
  if (digits.empty()) return std::nullopt;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (error != std::errc{} || end != digits.data() + digits.size() || seconds < 0)
    throw ConfigurationError(
        fmt::format("{} is '{}', expected seconds since 1970", kDeadlineVariable, digits));
  const system_clock::time_point deadline(std::chrono::seconds(std::min(seconds, kLastSecond)));
  if (deadline > system_clock::now()) return deadline;
  Logger(server.rank(), server.options().log_level)
      .warning("{} is {}, {:%Y-%m-%d %H:%M:%S} UTC, which is past: it is ignored, as that of another job",
               kDeadlineVariable, digits,
               fmt::gmtime(static_cast<std::time_t>(std::min(seconds, kLastSecond))));
  return std::nullopt;
}

// Returns the nanoseconds until the job is to stop. Throws ConfigurationError.
std::optional<std::int64_t> time_to_stop(const ParameterServer& server, const JobControlOptions& options) {
  using std::chrono::system_clock;
  const std::optional<system_clock::time_point> deadline =
      options.deadline ? options.deadline : slurm_deadline(server);
  if (!deadline) return std::nullopt;
  const Seconds left = Seconds(deadline->time_since_epoch()) -
                       Seconds(system_clock::now().time_since_epoch()) - Seconds(options.grace);
  // Limited, because it is added to the time of a steady clock, which may have begun years ago.
  constexpr Seconds kLongest(static_cast<double>(kLastSecond / 2));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::clamp(left, -kLongest, kLongest)).count();
}

void check(const CheckpointInterval& interval) {
  const bool valid =
      interval.epochs != 0 && interval.clocks != 0 && (!interval.time || interval.time->count() > 0);
  if (!valid) throw UsageError("an interval of 0 between checkpoints, expected at least 1");
}

std::string to_text(const CheckpointInterval& interval) {
  return fmt::format("{} epochs, {} clocks, {} s", interval.epochs.value_or(0), interval.clocks.value_or(0),
                     interval.time.value_or(std::chrono::seconds(0)).count());
}

// The end of the job from rank 0, and the interval of each rank.
struct StartOfJob {
  std::string interval;
  bool has_end = false;
  std::int64_t nanoseconds = 0;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& interval& has_end& nanoseconds;
  }
};

}  // namespace

struct JobControl::Impl {
  Impl(ParameterServer& of, const JobControlOptions& options);

  bool time_is_over() const { return end && SteadyClock::now() >= *end; }
  std::string own_reason() const;

  const OwnProcess process;
  ParameterServer& server;
  const CheckpointInterval interval;
  std::optional<SignalWatch> signals;
  std::optional<SteadyClock::time_point> end;
  std::string reason;
  std::atomic<SteadyClock::time_point> begin{SteadyClock::now()};  // of the interval
  JobProgress progress;                                            // at that time
};

JobControl::Impl::Impl(ParameterServer& of, const JobControlOptions& options)
    : server(of), interval(options.checkpoint_interval) {
  const auto texts = server.exchange("the making of a job control", [&] {
    check(interval);
    StartOfJob start{.interval = to_text(interval)};
    if (server.rank() == Rank(0)) {
      const auto nanoseconds = time_to_stop(server, options);
      start.has_end = nanoseconds.has_value();
      start.nanoseconds = nanoseconds.value_or(0);
    }
    signals.emplace(options.signals);
    return to_archive(start);
  });
  const auto first = from_archive<StartOfJob>(texts[0]);
  if (first.has_end) end = SteadyClock::now() + std::chrono::nanoseconds(first.nanoseconds);
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    const auto other = from_archive<StartOfJob>(texts[rank]);
    if (other.interval == first.interval) continue;
    // Throws in an exchange, so that the server learns that every rank throws.
    server.exchange("the making of a job control", [&]() -> std::string {
      throw CollectiveMismatch(fmt::format("the interval of checkpoints is {} on rank 0 and {} on rank {}",
                                           first.interval, other.interval, rank));
    });
  }
}

std::string JobControl::Impl::own_reason() const {
  if (const auto signal = signals->received())
    return fmt::format("{} on rank {}", signal_name(*signal), server.rank().value());
  return time_is_over() ? "the time of the job ends" : "";
}

JobControl::JobControl(ParameterServer& server, const JobControlOptions& options)
    : impl_(std::make_unique<Impl>(server, options)) {}
JobControl::~JobControl() {
  if (impl_->process.is_left()) leave_to_parent(impl_);
}

bool JobControl::stop_requested() const {
  if (impl_->server.stop_requested()) return true;
  if (!impl_->signals->received() && !impl_->time_is_over()) return false;
  impl_->server.request_stop();
  return true;
}

bool JobControl::checkpoint_due() const {
  impl_->process.check("checkpoint_due");
  if (!impl_->interval.time) return false;
  const Seconds passed = SteadyClock::now() - impl_->begin.load(std::memory_order_relaxed);
  return passed >= Seconds(*impl_->interval.time);
}

bool JobControl::should_stop() {
  // A rank that only knows of another rank's request has no reason of its own.
  const auto reasons = impl_->server.exchange(
      "should_stop", [&] { return fmt::format("{}{}", stop_requested() ? '1' : '0', impl_->own_reason()); });
  if (std::ranges::none_of(reasons, [](const std::string& one) { return one[0] == '1'; })) return false;
  impl_->server.request_stop();
  const auto known = std::ranges::find_if(reasons, [](const std::string& one) { return one.size() > 1; });
  impl_->reason = known == reasons.end() ? "a rank has requested it" : known->substr(1);
  return true;
}

const std::string& JobControl::stop_reason() const {
  return impl_->reason;
}

bool JobControl::need_checkpoint(const JobProgress& progress) {
  const auto reached = [](std::optional<std::uint64_t> interval, std::uint64_t before, std::uint64_t now) {
    return interval && now >= before && now - before >= *interval;
  };
  const auto answers = impl_->server.exchange("need_checkpoint", [&] {
    const bool counts = impl_->server.rank() == Rank(0) &&
                        (reached(impl_->interval.epochs, impl_->progress.epochs, progress.epochs) ||
                         reached(impl_->interval.clocks, impl_->progress.clocks, progress.clocks));
    return std::string(counts || checkpoint_due() ? "1" : "0");
  });
  if (std::ranges::find(answers, "1") == answers.end()) return false;
  begin_interval(progress);
  return true;
}

void JobControl::begin_interval(const JobProgress& progress) {
  impl_->process.check("begin_interval");
  impl_->progress = progress;
  impl_->begin = SteadyClock::now();
}

}  // namespace lapse
