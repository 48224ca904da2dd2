#include "apps/common/training_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/common/checkpoint_room.hpp"
#include "apps/common/held_signals.hpp"
#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/core/error.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"

namespace lapse::apps {

namespace {

CheckpointSettings settings(const CheckpointOptions& options) {
  return {.folder = options.folder, .local_folder = options.local_folder, .keep = options.keep};
}

// Collective. Whether the condition holds on any rank.
bool holds_anywhere(ParameterServer& server, std::string_view call, const std::function<bool()>& condition) {
  const auto answers = server.exchange(call, [&] { return std::string(condition() ? "1" : "0"); });
  return std::ranges::find(answers, "1") != answers.end();
}

}  // namespace

TrainingJob::TrainingJob(ParameterServer& server, const CheckpointOptions& options)
    : server_(server),
      options_(options),
      signals_(options.signals),
      termination_(server.rank(), std::ranges::find(options.signals, SIGTERM) != options.signals.end(),
                   options.stop_before),
      checkpoints_(server, settings(options)),
      control_(server, {.signals = options.signals,
                        .checkpoint_interval = options.interval,
                        .grace = options.stop_before}),
      existing_((require_writable(server, options), existing_checkpoints(server, options))) {
  // Launchers send signals to the other ranks when the first has ended. After the handlers are removed, such
  // a signal would kill a program that has finished or saved its work, with another exit status.
  signals_.ignore_afterwards();
  release_signals();
  // Raise a signal again that arrived before the control existed.
  if (const auto signal = signals_.received()) std::raise(*signal);
  if (!existing_.folder.empty() && !options.resume)
    throw ConfigurationError(
        fmt::format("{} has checkpoints: add --resume to go on from the newest, or choose another "
                    "--checkpoint-dir",
                    existing_.folder));
}

bool TrainingJob::has_steps() const {
  return CheckpointAgreement(server_, "the look for steps").exchange([this] {
    return server_.rank() == Rank(0) && !CheckpointFolder(options_.folder).steps().empty();
  })[0];
}

std::optional<SavedState> TrainingJob::begin(RunIdentity identity) {
  using Reason = CheckpointError::Reason;
  identity_ = std::move(identity);
  const bool reports = server_.rank() == Rank(0);
  try {
    require_room(server_, options_, tables_);
  } catch (const CheckpointError& error) {
    // A resumed training may have little left to do, or nothing to save.
    if (existing_.folder.empty() || error.reason() != Reason::no_space) throw;
    warn(error.what());
  }
  if (existing_.folder.empty() && !options_.resume_step) {
    if (options_.resume && reports) fmt::print("no checkpoint in {}: the training starts\n", options_.folder);
    return std::nullopt;
  }
  std::vector<std::uint64_t> failed;
  for (LoadRequest request{.step = options_.resume_step};;) {
    std::optional<std::uint64_t> tried = request.step;
    try {
      return resume(request, tried);
    } catch (const CheckpointError& error) {
      // This error is thrown on every rank.
      const bool may_be_older = error.reason() == Reason::damaged || error.reason() == Reason::truncated ||
                                error.reason() == Reason::missing || error.reason() == Reason::foreign;
      if (options_.resume_step || !may_be_older) throw;
      if (tried) failed.push_back(*tried);
      const std::optional<std::uint64_t> older = older_step(failed);
      // A complete checkpoint whose values are damaged is an error: an older one may be on the hosts.
      if (!older && !has_steps() && !tried) {
        warn(fmt::format("no whole checkpoint in {} or on the hosts: the training starts: {}",
                         options_.folder, error.what()));
        return std::nullopt;
      }
      if (!older) throw;
      warn(fmt::format("{} cannot be resumed: {}; going back to step {} in {}",
                       tried ? fmt::format("step {}", *tried) : "the newest checkpoint", error.what(), *older,
                       options_.folder));
      request = {.step = older, .is_fallback = true};
    }
  }
}

Json TrainingJob::require_content(const LoadedCheckpoint& loaded) const {
  const std::string name = fmt::format("step {} in {}", loaded.step, options_.folder);
  Json global = loaded.global.empty() ? Json() : parse_state(loaded.global);
  if (!global.is_object() || !global.contains("run") || !global.contains("state"))
    throw ConfigurationError(fmt::format("{} is not the checkpoint of an application", name));
  identity_.require_equal(global.at("run"), name);
  return global;
}

SavedState TrainingJob::resume(const LoadRequest& request, std::optional<std::uint64_t>& tried) {
  {
    // Load without tables first, so that another run is recognised by its options, not by its tables'
    // lengths.
    Checkpoints without_tables(server_, settings(options_));
    const LoadedCheckpoint loaded = without_tables.load(request);
    tried = loaded.step;
    require_content(loaded);
  }
  LoadedCheckpoint loaded = checkpoints_.load(request);
  const Json global = require_content(loaded);
  if (loaded.not_finite != 0)
    throw ConfigurationError(
        fmt::format("step {} in {} has {} numbers that are not finite, and cannot be trained further: {}",
                    loaded.step, options_.folder, loaded.not_finite,
                    options_.resume_step ? "choose another --resume-step"
                                         : "choose another --checkpoint-dir, and a smaller --rate"));
  // The next checkpoint has the largest number, even if newer ones were skipped.
  next_step_ = std::max(loaded.step, newest_step()) + 1;
  // A checkpoint only in local folders must be saved again before the job ends.
  only_local_ = loaded.only_local;
  saved_step_ = only_local_ ? 0 : loaded.step;
  for (const std::string& problem : loaded.problems) warn("passed over: " + problem);
  if (server_.rank() == Rank(0)) {
    fmt::print("resumed from step {} in {}\n", loaded.step, options_.folder);
    std::fflush(stdout);
  }
  return {global.at("state").dump(), std::move(loaded.per_worker)};
}

std::uint64_t TrainingJob::newest_step() {
  return CheckpointAgreement(server_, "the look for the newest checkpoint").exchange([&]() -> std::uint64_t {
    if (server_.rank() != Rank(0)) return 0;
    const std::vector<std::uint64_t> steps = CheckpointFolder(options_.folder).steps();
    return steps.empty() ? 0 : steps.back();
  })[0];
}

std::optional<std::uint64_t> TrainingJob::older_step(const std::vector<std::uint64_t>& failed) {
  // 0: none.
  const std::uint64_t found =
      CheckpointAgreement(server_, "the look for an older checkpoint").exchange([&]() -> std::uint64_t {
        if (server_.rank() != Rank(0)) return 0;
        const auto newest =
            CheckpointFolder(options_.folder).newest(CheckpointFolder::Check::structure, failed);
        return newest.manifest ? newest.manifest->step : 0;
      })[0];
  return found == 0 ? std::nullopt : std::optional(found);
}

void TrainingJob::warn(const std::string& text) const {
  if (server_.rank() == Rank(0)) fmt::print(stderr, "warning: {}\n", text);
}

CheckpointContent TrainingJob::content(const SavedState& state) const {
  const Json global{{"run", identity_.to_json()}, {"state", parse_state(state.global)}};
  return {.global = global.dump(), .per_worker = state.per_worker};
}

void TrainingJob::try_to_save(const std::function<void()>& f) {
  constexpr int kMaxFailures = 3;
  try {
    f();
  } catch (const CheckpointError& error) {
    // This error is thrown on every rank.
    if (error.reason() == CheckpointError::Reason::locked || ++failed_saves_ == kMaxFailures) throw;
    warn(fmt::format("no checkpoint was saved: {}; the next is tried after the interval", error.what()));
  }
}

void TrainingJob::finish_written() {
  if (!is_saving_ ||
      holds_anywhere(server_, "the look after a checkpoint", [this] { return !checkpoints_.done(); }))
    return;
  is_saving_ = false;
  finish_background();
}

void TrainingJob::finish_background_save() {
  if (std::exchange(is_saving_, false)) finish_background();
}

std::string TrainingJob::saved_text() const {
  if (saved_step_ == 0) return {};
  return fmt::format("; step {} in {}, from before, is the newest checkpoint", saved_step_, options_.folder);
}

void TrainingJob::finish_background() {
  try_to_save([this] {
    finish_save(saving_);
    failed_saves_ = 0;
  });
}

void TrainingJob::set_progress(const JobProgress& progress) {
  if (!only_local_) saved_ = progress;
  begin_interval(progress);
}

bool TrainingJob::shall_leave(std::uint64_t clocks) {
  if (clocks_left_ && clocks >= *clocks_left_) {
    clocks_over_.store(true, std::memory_order_relaxed);
    return true;
  }
  return control_.stop_requested() || control_.checkpoint_due();
}

void TrainingJob::begin_interval(const JobProgress& progress) {
  control_.begin_interval(progress);
  interval_clocks_ = progress.clocks;
  clocks_left_ = options_.interval.clocks;
}

bool TrainingJob::pause(const JobProgress& progress, const std::function<SavedState()>& state) {
  finish_written();
  if (!control_.should_stop()) {
    // Workers with more clocks than others have left by their own clocks, later than the mean.
    const bool clocks_over = clocks_left_ && holds_anywhere(server_, "the look at the clocks", [this] {
                               return clocks_over_.exchange(false, std::memory_order_relaxed);
                             });
    if (control_.need_checkpoint(progress) || clocks_over) {
      // Background saves are slower than the interval: the result of the last one does not apply to the next.
      finish_background_save();
      try_to_save([&] {
        checkpoints_.save_async(next_step_++, content(state()));
        is_saving_ = true;
        saving_ = progress;
      });
      begin_interval(progress);
    } else if (clocks_left_) {
      // Less than the interval; otherwise a checkpoint would have been due.
      const std::uint64_t passed = progress.clocks - std::min(progress.clocks, interval_clocks_);
      clocks_left_ = *options_.interval.clocks - std::min(passed, *options_.interval.clocks - 1);
    }
    return false;
  }
  const std::uint64_t before = next_step_;
  save(progress, state);
  termination_.finish();
  stop_text_ = fmt::format("stopped: {}; ", control_.stop_reason());
  if (saved_step_ == 0) {
    stop_text_ += "nothing was trained, and there is no checkpoint";
  } else {
    stop_text_ += fmt::format("--resume goes on from step {} in {}", saved_step_, options_.folder);
    if (next_step_ == before) stop_text_ += "; nothing was trained since then";
  }
  return true;
}

void TrainingJob::finish(const JobProgress& progress, const std::function<SavedState()>& state) {
  save(progress, state);
  termination_.finish();
}

void TrainingJob::save(const JobProgress& progress, const std::function<SavedState()>& state) {
  failed_saves_ = 0;  // Always try to save the last checkpoint.
  finish_background_save();
  if (is_saved(progress)) return;
  checkpoints_.save(next_step_++, content(state()));
  finish_save(progress);
}

void TrainingJob::finish_save(const JobProgress& progress) {
  checkpoints_.finish();  // With a local folder, the common folder has it from now on.
  saved_ = progress;
  saved_step_ = next_step_ - 1;
}

void make_training_job(std::optional<TrainingJob>& job, ParameterServer& server,
                       const CheckpointOptions& options) {
  if (options.folder.empty()) return release_signals();
  job.emplace(server, options);
}

}  // namespace lapse::apps
