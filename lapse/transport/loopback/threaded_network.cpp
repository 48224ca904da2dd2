#include "lapse/transport/loopback/threaded_network.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/gather_watch.hpp"
#include "lapse/transport/loopback/threaded_transport.hpp"

namespace lapse {

ThreadedLoopback::ThreadedLoopback(std::int32_t ranks, const ThreadedLoopbackSettings& settings)
    : settings_(settings), memory_(settings.shared_bytes) {
  if (ranks < 1) throw UsageError(fmt::format("a loopback network of {} ranks: expected at least 1", ranks));
  brought_.resize(static_cast<std::size_t>(ranks));
  has_arrived_.resize(brought_.size());
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    endpoints_.push_back(
        std::make_unique<ThreadedLoopbackTransport>(*this, Rank{rank}, ranks, settings_, memory_));
  }
}

ThreadedLoopback::~ThreadedLoopback() = default;

std::int32_t ThreadedLoopback::ranks() const {
  return static_cast<std::int32_t>(endpoints_.size());
}

Transport& ThreadedLoopback::endpoint(Rank rank) {
  if (rank.value() < 0 || rank.index() >= endpoints_.size()) {
    throw UsageError(
        fmt::format("rank {}: the loopback network has the ranks 0 to {}", rank.value(), ranks() - 1));
  }
  return *endpoints_[rank.index()];
}

std::vector<Rank> ThreadedLoopback::missing() const {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < has_arrived_.size(); ++rank)
    if (!has_arrived_[rank]) ranks.emplace_back(static_cast<std::int32_t>(rank));
  return ranks;
}

std::vector<std::vector<std::byte>> ThreadedLoopback::gather(Rank rank, std::span<const std::byte> mine,
                                                             GatherWatch* watch) {
  const auto start = std::chrono::steady_clock::now();
  const MutexLock guard(mutex_);
  brought_[rank.index()].assign(mine.begin(), mine.end());
  has_arrived_[rank.index()] = true;
  const std::uint64_t gathering = gatherings_;
  if (++arrived_ == brought_.size()) {
    result_ = std::exchange(brought_, std::vector<std::vector<std::byte>>(brought_.size()));
    has_arrived_.assign(brought_.size(), false);
    arrived_ = 0;
    ++gatherings_;
    all_arrived_.notify_all();
    return result_;
  }
  const auto done = [&]() LAPSE_REQUIRES(mutex_) { return gatherings_ != gathering; };
  if (watch == nullptr || watch->patience() == GatherWatch::Duration::zero()) {
    mutex_.wait(all_arrived_, done);
    return result_;
  }
  for (auto due = start + watch->patience(); !mutex_.wait_until(all_arrived_, due, done);
       due += watch->patience()) {
    watch->report(std::chrono::steady_clock::now() - start, missing());
  }
  return result_;
}

}  // namespace lapse
