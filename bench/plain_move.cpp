#include "bench/plain_move.hpp"

#include <fmt/format.h>

#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "lapse/core/error.hpp"

namespace lapse::bench {

namespace {

constexpr int kKeysTag = 0;
constexpr int kRowsTag = 1;

std::size_t row_of(Key key) {
  return key.index();
}

void wait_for_all(std::vector<MPI_Request>& requests) {
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

PlainMove::PlainMove(MPI_Comm communicator, std::uint64_t rows, std::size_t length)
    : communicator_(communicator), length_(length), rows_(rows * length), owners_(rows, 1) {
  MPI_Comm_rank(communicator, &rank_);
  other_ = 1 - rank_;
  if (length == 25) use_length<25>();
  if (length == 256) use_length<256>();
  if (gather_ == nullptr) throw UsageError(fmt::format("rows of {} floats to move: no loops for it", length));
}

template <std::size_t length>
void PlainMove::use_length() {
  gather_ = [](const float* rows, std::span<const Key> keys, float* values) {
    gather_rows<length>(rows, keys, row_of, values);
  };
  scatter_ = [](float* rows, std::span<const Key> keys, const float* values) {
    scatter_rows<length>(rows, keys, row_of, values);
  };
}

double PlainMove::move_all(std::span<const Key> keys, const Turns& turns) {
  const std::size_t at_once = turns.batch * turns.in_flight;
  buffer_.resize(at_once * length_);
  asked_.resize(turns.batch);
  sends_.resize(turns.in_flight);
  receives_.resize(turns.in_flight);
  double seconds = 0;
  for (std::size_t turn = 0; turn < turns.count; ++turn) {
    const bool takes = static_cast<std::size_t>(rank_) == turn % 2;
    MPI_Barrier(communicator_);
    const Clock::time_point begin = Clock::now();
    for (std::span<const Key> left = keys; !left.empty(); left = left.subspan(at_once)) {
      if (takes) {
        take(left.first(at_once), turns.batch);
      } else {
        give(at_once, turns.batch);
      }
    }
    if (takes) seconds += seconds_between(begin, Clock::now());
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_SUM, communicator_);
  return seconds;
}

void PlainMove::take(std::span<const Key> keys, std::size_t batch) {
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    MPI_Irecv(rows_of(i, batch), static_cast<int>(batch * length_), MPI_FLOAT, other_, kRowsTag,
              communicator_, &receives_[i]);
    MPI_Isend(keys.data() + i * batch, static_cast<int>(batch), MPI_UINT64_T, other_, kKeysTag, communicator_,
              &sends_[i]);
  }
  for (std::size_t i = 0; i < receives_.size(); ++i, keys = keys.subspan(batch)) {
    MPI_Wait(&receives_[i], MPI_STATUS_IGNORE);
    scatter_(rows_.data(), keys.first(batch), rows_of(i, batch));
    note_owner(keys.first(batch), rank_);
  }
  wait_for_all(sends_);
}

void PlainMove::give(std::size_t keys, std::size_t batch) {
  for (std::size_t i = 0; i < keys / batch; ++i) {
    MPI_Recv(asked_.data(), static_cast<int>(batch), MPI_UINT64_T, other_, kKeysTag, communicator_,
             MPI_STATUS_IGNORE);
    gather_(rows_.data(), asked_, rows_of(i, batch));
    note_owner(asked_, other_);
    MPI_Isend(rows_of(i, batch), static_cast<int>(batch * length_), MPI_FLOAT, other_, kRowsTag,
              communicator_, &sends_[i]);
  }
  wait_for_all(sends_);
}

void PlainMove::note_owner(std::span<const Key> keys, int rank) {
  for (const Key key : keys) owners_[key.index()] = rank;
}

}  // namespace lapse::bench
