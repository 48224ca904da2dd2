#include "bench/plain_exchange.hpp"

#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr int kKeysTag = 0;
constexpr int kRowsTag = 1;
constexpr int kDoneTag = 2;

// Messages to and from the other of two ranks.
struct OtherRank {
  MPI_Comm communicator;
  int rank;

  template <class T>
  void send(std::span<const T> values, int tag) const {
    MPI_Send(values.data(), static_cast<int>(values.size_bytes()), MPI_BYTE, rank, tag, communicator);
  }

  template <class T>
  void receive(std::span<T> values, int tag) const {
    MPI_Recv(values.data(), static_cast<int>(values.size_bytes()), MPI_BYTE, rank, tag, communicator,
             MPI_STATUS_IGNORE);
  }
};

// Collective. Returns the seconds of the function. All ranks begin together.
template <class F>
double timed(MPI_Comm communicator, F&& f) {
  MPI_Barrier(communicator);
  const Clock::time_point begin = Clock::now();
  f();
  const double seconds = seconds_between(begin, Clock::now());
  MPI_Barrier(communicator);
  return seconds;
}

}  // namespace

PlainExchange::PlainExchange(MPI_Comm communicator, std::uint64_t first, std::uint64_t rows)
    : communicator_(communicator), first_(first) {
  MPI_Comm_rank(communicator, &rank_);
  if (rank_ == 1) rows_.resize(rows * kLength);
}

double PlainExchange::pull(std::span<const Key> keys, std::size_t batch) {
  const OtherRank other{communicator_, 1 - rank_};
  std::vector<Key> asked(batch);
  std::vector<float> values(batch * kLength);
  const auto position = [&](Key key) { return row_of(key); };
  return timed(communicator_, [&] {
    for (std::span<const Key> left = keys; !left.empty(); left = left.subspan(batch)) {
      if (rank_ == 0) {
        other.send(left.first(batch), kKeysTag);
        other.receive(std::span(values), kRowsTag);
      } else {
        other.receive(std::span(asked), kKeysTag);
        gather_rows<kLength>(rows_.data(), asked, position, values.data());
        other.send(std::span<const float>(values), kRowsTag);
      }
    }
  });
}

double PlainExchange::push(std::span<const Key> keys, std::size_t batch) {
  const OtherRank other{communicator_, 1 - rank_};
  std::vector<Key> asked(batch);
  std::vector<float> updates(batch * kLength, 1.0F);
  const auto position = [&](Key key) { return row_of(key); };
  return timed(communicator_, [&] {
    for (std::span<const Key> left = keys; !left.empty(); left = left.subspan(batch)) {
      if (rank_ == 0) {
        renew_updates(updates);
        other.send(left.first(batch), kKeysTag);
        other.send(std::span<const float>(updates), kRowsTag);
        other.receive(std::span<float>(), kDoneTag);
      } else {
        other.receive(std::span(asked), kKeysTag);
        other.receive(std::span(updates), kRowsTag);
        add_to_rows<kLength>(rows_.data(), asked, position, updates.data());
        other.send(std::span<const float>(), kDoneTag);
      }
    }
  });
}

}  // namespace lapse::bench
