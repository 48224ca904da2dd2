#include "bench/plain_all_to_all.hpp"

#include <algorithm>
#include <cstring>

#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

std::vector<int> times_length(const std::vector<int>& numbers) {
  std::vector<int> products(numbers);
  for (int& product : products) product *= static_cast<int>(kLength);
  return products;
}

}  // namespace

PlainAllToAll::PlainAllToAll(MPI_Comm communicator, std::uint64_t rows) : communicator_(communicator) {
  MPI_Comm_size(communicator, &ranks_);
  rows_.resize((rows / ranks() + 1) * kLength);
  for (Parts* const parts : {&wanted_, &asked_}) {
    parts->counts.resize(ranks());
    parts->offsets.resize(ranks());
  }
}

void PlainAllToAll::set_offsets(Parts& parts) {
  int offset = 0;
  for (std::size_t rank = 0; rank < parts.counts.size(); ++rank) {
    parts.offsets[rank] = offset;
    offset += parts.counts[rank];
  }
}

void PlainAllToAll::exchange_keys(std::span<const Key> keys) {
  grouped_.resize(keys.size());
  positions_.resize(keys.size());
  std::ranges::fill(wanted_.counts, 0);
  for (const Key key : keys) ++wanted_.counts[key.index() % ranks()];
  set_offsets(wanted_);
  next_ = wanted_.offsets;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    positions_[i] = next_[keys[i].index() % ranks()]++;
    grouped_[static_cast<std::size_t>(positions_[i])] = keys[i];
  }
  MPI_Alltoall(wanted_.counts.data(), 1, MPI_INT, asked_.counts.data(), 1, MPI_INT, communicator_);
  set_offsets(asked_);
  answered_.resize(static_cast<std::size_t>(asked_.offsets.back()) +
                   static_cast<std::size_t>(asked_.counts.back()));
  MPI_Alltoallv(grouped_.data(), wanted_.counts.data(), wanted_.offsets.data(), MPI_UINT64_T,
                answered_.data(), asked_.counts.data(), asked_.offsets.data(), MPI_UINT64_T, communicator_);
}

void PlainAllToAll::exchange_rows(const std::vector<float>& sent, const Parts& from,
                                  std::vector<float>& received, const Parts& to) const {
  MPI_Alltoallv(sent.data(), times_length(from.counts).data(), times_length(from.offsets).data(), MPI_FLOAT,
                received.data(), times_length(to.counts).data(), times_length(to.offsets).data(), MPI_FLOAT,
                communicator_);
}

template <class F>
double PlainAllToAll::timed(std::span<const Key> keys, std::size_t batch, F&& exchange) {
  MPI_Barrier(communicator_);
  const Clock::time_point begin = Clock::now();
  for (; !keys.empty(); keys = keys.subspan(batch)) exchange(keys.first(batch));
  MPI_Barrier(communicator_);
  return seconds_between(begin, Clock::now());
}

double PlainAllToAll::pull(std::span<const Key> keys, std::size_t batch) {
  std::vector<float> answers;
  std::vector<float> received(batch * kLength);
  std::vector<float> values(batch * kLength);
  const auto position = [&](Key key) { return row_of(key); };
  return timed(keys, batch, [&](std::span<const Key> wanted) {
    exchange_keys(wanted);
    answers.resize(answered_.size() * kLength);
    gather_rows<kLength>(rows_.data(), answered_, position, answers.data());
    exchange_rows(answers, asked_, received, wanted_);
    for (std::size_t i = 0; i < batch; ++i) {
      std::memcpy(&values[i * kLength], &received[static_cast<std::size_t>(positions_[i]) * kLength],
                  kValueBytes);
    }
  });
}

double PlainAllToAll::push(std::span<const Key> keys, std::size_t batch) {
  std::vector<float> updates(batch * kLength, 1.0F);
  std::vector<float> sent(batch * kLength);
  std::vector<float> received;
  const auto position = [&](Key key) { return row_of(key); };
  return timed(keys, batch, [&](std::span<const Key> wanted) {
    renew_updates(updates);
    exchange_keys(wanted);
    for (std::size_t i = 0; i < batch; ++i) {
      std::memcpy(&sent[static_cast<std::size_t>(positions_[i]) * kLength], &updates[i * kLength],
                  kValueBytes);
    }
    received.resize(answered_.size() * kLength);
    exchange_rows(sent, wanted_, received, asked_);
    add_to_rows<kLength>(rows_.data(), answered_, position, received.data());
  });
}

}  // namespace lapse::bench
