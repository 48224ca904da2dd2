#include "adapm/sampling/sampler_state.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace adapm {

using lapse::Clock;
using lapse::Key;
using lapse::MutexLock;
using lapse::RandomEngine;

// --- the samples of a worker

void SampleStream::enter(const Owner& owner) {
  if (entered_ && owner_.phase == owner.phase && owner_.worker == owner.worker) return;
  entered_ = true;
  owner_ = owner;
  seed_ = lapse::PositionalRandom(sampling_.seed).bits(Key(owner.worker), owner.phase);
  samples_ = 0;
  pool_.restart(seed_);
}

SampleStream::NextSample SampleStream::next(const Owner& owner) {
  const MutexLock guard(mutex_);
  enter(owner);
  NextSample next{RandomEngine(seed_, samples_++), nullptr};
  if (kept_.empty()) {
    kept_.reserve(kMaxKept);  // so that give_back cannot fail
    next.memory = std::make_unique<PreparedKeys>();
  } else {
    next.memory = std::move(kept_.back());
    kept_.pop_back();
  }
  return next;
}

void SampleStream::take_from_pool(const Owner& owner, std::size_t keys, Clock start, Clock end,
                                  PreparedKeys& to, const SamplePool::Announce& announce) {
  const MutexLock guard(mutex_);
  enter(owner);
  pool_.take(keys, start, end, to.list(), to.distinct(), announce);
  to.end_draws();
}

void SampleStream::give_back(std::unique_ptr<PreparedKeys> ended) noexcept {
  ended->end_draws();
  const MutexLock guard(mutex_);
  if (kept_.size() < kept_.capacity() && !ended->is_large()) kept_.push_back(std::move(ended));
}

// --- the sampler

namespace {

Sampling with_possible_pool(Sampling sampling, const Distribution& distribution) {
  if (!sampling.with_replacement) {
    sampling.pool_keys =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(sampling.pool_keys, distribution.support()));
  }
  return sampling;
}

}  // namespace

SamplerState::SamplerState(const lapse::TableHandle& table, Distribution::Shared distribution,
                           const Sampling& sampling)
    : table_(table),
      distribution_(std::move(distribution)),
      sampling_(with_possible_pool(sampling, *distribution_)) {}

std::uint64_t SamplerState::max_keys() const {
  if (sampling_.with_replacement) return std::numeric_limits<std::uint64_t>::max();
  return sampling_.scheme == SamplingScheme::pool ? sampling_.pool_keys : distribution_->support();
}

SampleStream& SamplerState::stream(std::size_t worker) {
  const MutexLock guard(mutex_);
  if (streams_.size() <= worker) streams_.resize(worker + 1);
  std::unique_ptr<SampleStream>& stream = streams_[worker];
  if (stream == nullptr) stream = std::make_unique<SampleStream>(*distribution_, sampling_);
  return *stream;
}

SamplerState::Prepared SamplerState::prepare(const SampleStream::Owner& owner, std::size_t keys, Clock start,
                                             Clock end, const SamplePool::Announce& announce) {
  SampleStream& stream = this->stream(owner.worker);
  auto [random, sample] = stream.next(owner);
  switch (sampling_.scheme) {
    case SamplingScheme::naive:
    case SamplingScheme::prelocalised:
      sample->begin_list(keys, sampling_.postpone);
      sample->draw_list(*distribution_, random, sampling_.with_replacement);
      if (sampling_.scheme == SamplingScheme::prelocalised) announce(sample->list(), start, end);
      break;
    case SamplingScheme::pool:
      sample->begin_list(keys, sampling_.postpone);
      stream.take_from_pool(owner, keys, start, end, *sample, announce);
      break;
    case SamplingScheme::local:
      sample->begin_draws(keys, random, sampling_.with_replacement);
      break;
  }
  return {stream, std::move(sample)};
}

}  // namespace adapm
