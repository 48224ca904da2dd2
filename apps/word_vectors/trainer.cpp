#include "apps/word_vectors/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "apps/common/manager_program.hpp"
#include "apps/common/technique_option.hpp"
#include "apps/common/training_health.hpp"
#include "apps/common/worker_counts.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

const TrainingOptions& checked(const TrainingOptions& options, std::int32_t ranks) {
  options.check(ranks);
  return options;
}

}  // namespace

void TrainingOptions::check(std::int32_t ranks) const {
  const auto require = [](bool condition, std::string_view what) {
    if (!condition) throw ConfigurationError(std::string(what));
  };
  check_worker_counts(workers, ranks);
  require(total_workers(workers, ranks) > 0, "no workers on any rank, expected at least 1");
  require(dimensions >= 1, "0 dimensions, expected at least 1");
  require(runner.rate > 0 && std::isfinite(runner.rate), "the learning rate must be positive");
  require(runner.lookahead >= 1, "lookahead 0, expected at least 1 batch");
  require(runner.windows.window >= 1, "window 0, expected at least 1 word");
  require(runner.windows.batch >= 1, "batch 0, expected at least 1 word");
  require(runner.windows.negative_uses >= 1, "0 uses of a negative, expected at least 1");
  require(runner.windows.subsample >= 0 && std::isfinite(runner.windows.subsample),
          "the threshold of subsampling must not be negative");
  require(std::isfinite(runner.windows.noise_exponent), "the exponent of the noise must be a number");
}

Trainer::Trainer(adapm::ParameterManager& manager, const Corpus& corpus, const TrainingOptions& options)
    : manager_(manager),
      corpus_(corpus),
      options_(checked(options, manager.ranks())),
      local_workers_(workers_of(options.workers, manager.rank())),
      subsampling_(make_on_every_rank(manager.server(),
                                      [&] { return Subsampling(corpus, options.runner.windows.subsample); })),
      noise_(make_on_every_rank(
          manager.server(),
          [&] { return noise_distribution(corpus, options.runner.windows.noise_exponent); })),
      tables_(create_vector_tables(
          manager, corpus,
          {.name = options.tables,
           .dimensions = options.dimensions,
           .optimiser = options.runner.optimiser,
           .rate = options.runner.rate,
           .seed = options.runner.seed,
           // Replicas show updates later.
           .consistency = options.runner.deterministic ? std::optional(Consistency::sequential)
                                                       : options.runner.consistency})),
      sampler_(make_sampler()),
      runners_(static_cast<std::size_t>(local_workers_)),
      positions_(runners_.size()) {
  const adapm::Technique technique = manager.options().technique;
  if (technique == adapm::Technique::nups) give_frequencies();
  manager.server().run_workers(local_workers_, [&](Worker& worker) {
    const WorkerTask task{
        corpus_,   subsampling_,   *noise_,        tables_,       sampler_ ? &*sampler_ : nullptr,
        technique, worker.index(), worker.count(), worker.ranks()};
    runners_[worker.local_index()] = std::make_unique<EpochRunner>(task, options_.runner);
  });
}

std::optional<adapm::Sampler<float>> Trainer::make_sampler() {
  // If all keys are local, or locality must not matter, negatives are drawn when batches are made.
  if (manager_.ranks() == 1 || options_.runner.deterministic) return std::nullopt;
  return manager_.create_sampler(
      tables_.outputs, noise_,
      {.scheme = sampling_scheme(options_.sampling, manager_.options()), .seed = options_.runner.seed});
}

void Trainer::give_frequencies() {
  // Negatives drawn among local keys do not count: they cause no remote accesses.
  const bool draws_local =
      sampler_ && sampling_scheme(options_.sampling, manager_.options()) == adapm::SamplingScheme::local;
  const double negatives = draws_local ? 0 : draws_per_word(options_.runner.windows);
  set_frequencies(manager_, tables_, corpus_, subsampling_, *noise_, negatives);
}

Trainer::~Trainer() = default;

std::size_t Trainer::workers() const {
  return total_workers(options_.workers, manager_.ranks());
}

const EpochRecord& Trainer::run_epoch(const OnProgress& on_progress) {
  run_part(on_progress, nullptr);
  return epochs_.back();
}

void Trainer::run(const std::function<void(const EpochRecord&)>& on_epoch, const OnProgress& on_progress,
                  TrainingJob* job) {
  const bool resumes = job != nullptr && begin(*job);
  if (!resumes && initial_) initial_();
  const auto state = [this] { return saved_state(); };
  while (epochs_.size() < options_.runner.epochs) {
    if (run_part(on_progress, job)) {
      if (on_epoch) on_epoch(epochs_.back());
      if (epochs_.size() == options_.runner.epochs) break;
    }
    has_stopped_ = job != nullptr && job->pause(progress(), state);
    if (has_stopped_) return;
  }
  if (job != nullptr) job->finish(progress(), state);
}

bool Trainer::run_part(const OnProgress& on_progress, TrainingJob* job) {
  using Time = std::chrono::steady_clock;
  const std::uint64_t epoch = epochs_.size();
  part_cost_ += run_measured(
      manager_, local_workers_, tables_.ids(), epoch_name(epoch + 1), [&](adapm::IntentWorker& worker) {
        const Time::time_point begin = Time::now();
        const std::uint64_t words_before = positions_[worker.local_index()].words;
        EpochRunner::OnProgress report;
        if (on_progress && worker.index() == 0) {
          report = [&](const EpochProgress& own) {
            const std::chrono::duration<double> seconds = Time::now() - begin;
            on_progress(epoch + 1, {.words = (own.words - words_before) * worker.count(), .loss = own.loss},
                        seconds.count());
          };
        }
        const std::size_t local = worker.local_index();
        ShallLeave shall_leave;
        if (job != nullptr) {
          // A resumed run reads the finished part again; the longer it is, the later the first checkpoint.
          shall_leave = [job, runner = runners_[local].get()](std::uint64_t batches) {
            const std::optional<std::uint64_t> again = runner->made_again();
            return job->stop_requested() || (again && batches >= *again && job->shall_leave(batches));
          };
        }
        runners_[local]->run(worker, epoch, positions_[local], shall_leave, report);
      });
  // Losses, contexts, words, batches, workers that have not ended.
  std::array<double, 5> sums{};
  // Ranks without workers take part to receive the sums.
  manager_.server().run_workers(std::max(1, local_workers_), [&](Worker& worker) {
    std::array<double, 5> own{};
    if (worker.local_index() < positions_.size()) {
      const EpochProgress& done = positions_[worker.local_index()];
      // Doubles count exactly up to 2^53.
      own = {done.loss.loss, static_cast<double>(done.loss.contexts), static_cast<double>(done.words),
             static_cast<double>(done.batches), done.ended ? 0.0 : 1.0};
    }
    worker.all_reduce(own);
    if (worker.local_index() == 0) sums = own;
  });
  // The loss of a context is bounded because its probabilities are: see SkipGram.
  const std::array tables{tables_.inputs, tables_.outputs};
  require_healthy(manager_.server(),
                  {.epoch = epoch + 1, .rate = options_.runner.rate, .loss = sums[0], .tables = tables}, job);
  // Includes the part that is not read again yet.
  part_clocks_ = std::max(part_clocks_, static_cast<std::uint64_t>(sums[3]) / workers());
  if (sums[4] != 0) return false;
  const LossSum loss{sums[0], static_cast<std::uint64_t>(sums[1])};
  epochs_.push_back({epoch + 1, loss.mean(), static_cast<std::uint64_t>(sums[2]), part_cost_});
  part_cost_ = {};
  positions_.assign(runners_.size(), {});
  clocks_ += std::exchange(part_clocks_, 0);
  return true;
}

}  // namespace lapse::apps
