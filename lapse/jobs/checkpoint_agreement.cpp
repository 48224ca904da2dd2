#include "lapse/jobs/checkpoint_agreement.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/core/error.hpp"

namespace lapse {

namespace {

// The outcome of a rank's part of a step.
struct StepOutcome {
  enum class Kind : std::uint8_t { done, checkpoint, usage, out_of_memory, other };

  std::uint8_t kind = 0;
  std::uint8_t reason = 0;  // of a CheckpointError
  std::string file = {};
  std::string problem = {};
  std::string archive = {};

  void set(Kind value) { kind = static_cast<std::uint8_t>(value); }
  bool failed() const { return kind != static_cast<std::uint8_t>(Kind::done); }

  template <class Archive>
  void serialize(Archive& to, unsigned) {
    to& kind& reason& file& problem& archive;
  }
};

StepOutcome try_step(const std::function<std::string()>& make) {
  using Kind = StepOutcome::Kind;
  StepOutcome outcome;
  try {
    outcome.archive = make();
  } catch (const CheckpointError& error) {
    outcome.set(Kind::checkpoint);
    outcome.reason = static_cast<std::uint8_t>(error.reason());
    outcome.file = error.file();
    outcome.problem = error.problem();
  } catch (const UsageError& error) {
    outcome.set(Kind::usage);
    outcome.problem = error.what();
  } catch (const OutOfMemory& error) {
    outcome.set(Kind::out_of_memory);
    outcome.problem = error.what();
  } catch (const std::bad_alloc&) {
    outcome.set(Kind::out_of_memory);
    outcome.problem = "no memory for a step of a checkpoint";
  } catch (const std::exception& error) {
    outcome.set(Kind::other);
    outcome.problem = error.what();
  } catch (...) {
    outcome.set(Kind::other);
    outcome.problem = "an exception of an unknown type";
  }
  return outcome;
}

std::exception_ptr error_of(const StepOutcome& outcome, std::size_t rank) {
  const std::string problem = fmt::format("{} (on rank {})", outcome.problem, rank);
  switch (static_cast<StepOutcome::Kind>(outcome.kind)) {
    case StepOutcome::Kind::checkpoint:
      return std::make_exception_ptr(
          CheckpointError(static_cast<CheckpointError::Reason>(outcome.reason), outcome.file, problem));
    case StepOutcome::Kind::usage:
      return std::make_exception_ptr(UsageError(problem));
    case StepOutcome::Kind::out_of_memory:
      return std::make_exception_ptr(OutOfMemory(problem));
    case StepOutcome::Kind::done:
    case StepOutcome::Kind::other:
      break;
  }
  return std::make_exception_ptr(Error(problem));
}

}  // namespace

std::vector<std::string> CheckpointAgreement::exchange_archives(const std::function<std::string()>& make) {
  std::vector<std::string> archives;
  std::exception_ptr failure;
  for (const std::string& one : server_.exchange(call_, [&] { return to_archive(try_step(make)); })) {
    StepOutcome outcome = from_archive<StepOutcome>(one);
    if (outcome.failed() && !failure) failure = error_of(outcome, archives.size());
    archives.push_back(std::move(outcome.archive));
  }
  if (failure) throw_everywhere(failure);
  return archives;
}

void CheckpointAgreement::throw_everywhere(const std::exception_ptr& error) {
  server_.exchange(call_, [&]() -> std::string { std::rethrow_exception(error); });
  std::rethrow_exception(error);
}

void CheckpointAgreement::require_equal(const std::vector<std::string>& texts) {
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[0]) continue;
    throw_everywhere(std::make_exception_ptr(CollectiveMismatch(fmt::format(
        "{} was called differently on ranks 0 and {}: {}; {}", call_, rank, texts[0], texts[rank]))));
  }
}

}  // namespace lapse
