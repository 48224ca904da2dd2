#include "bench/plain_large_rows.hpp"

#include "bench/support/joint_timer.hpp"

namespace lapse::bench {

namespace {

constexpr int kLargeKeysTag = 0;
constexpr int kLargeRowTag = 1;
constexpr int kLargeDoneTag = 2;

}  // namespace

PlainLargeRows::PlainLargeRows(MPI_Comm communicator, std::uint64_t first, std::uint64_t rows,
                               std::size_t length)
    : communicator_(communicator), first_(first), length_(length) {
  MPI_Comm_rank(communicator, &rank_);
  if (rank_ == 1) rows_.resize(rows * length);
}

double PlainLargeRows::pull(std::span<const Key> keys, std::size_t batch) {
  const int other = 1 - rank_;
  const int key_bytes = static_cast<int>(batch * sizeof(Key));
  const int floats = static_cast<int>(length_);
  std::vector<Key> asked(batch);
  std::vector<float> values(rank_ == 0 ? batch * length_ : 0);
  std::vector<MPI_Request> open(batch);
  const int requests = static_cast<int>(batch);
  MPI_Barrier(communicator_);
  const Clock::time_point begin = Clock::now();
  for (std::span<const Key> left = keys; !left.empty(); left = left.subspan(batch)) {
    if (rank_ == 0) {
      for (std::size_t i = 0; i < batch; ++i)
        MPI_Irecv(values.data() + i * length_, floats, MPI_FLOAT, other, kLargeRowTag, communicator_,
                  &open[i]);
      MPI_Send(left.data(), key_bytes, MPI_BYTE, other, kLargeKeysTag, communicator_);
    } else {
      MPI_Recv(asked.data(), key_bytes, MPI_BYTE, other, kLargeKeysTag, communicator_, MPI_STATUS_IGNORE);
      for (std::size_t i = 0; i < batch; ++i)
        MPI_Isend(row(asked[i]), floats, MPI_FLOAT, other, kLargeRowTag, communicator_, &open[i]);
    }
    MPI_Waitall(requests, open.data(), MPI_STATUSES_IGNORE);
  }
  const double seconds = seconds_between(begin, Clock::now());
  MPI_Barrier(communicator_);
  return seconds;
}

double PlainLargeRows::push(std::span<const Key> keys, std::size_t batch) {
  const int other = 1 - rank_;
  const int key_bytes = static_cast<int>(batch * sizeof(Key));
  const int floats = static_cast<int>(length_);
  std::vector<Key> asked(batch);
  std::vector<float> updates(batch * length_, 1.0F);
  std::vector<MPI_Request> open(batch);
  MPI_Barrier(communicator_);
  const Clock::time_point begin = Clock::now();
  for (std::span<const Key> left = keys; !left.empty(); left = left.subspan(batch)) {
    if (rank_ == 0) {
      MPI_Send(left.data(), key_bytes, MPI_BYTE, other, kLargeKeysTag, communicator_);
      for (std::size_t i = 0; i < batch; ++i)
        MPI_Send(updates.data() + i * length_, floats, MPI_FLOAT, other, kLargeRowTag, communicator_);
      MPI_Recv(nullptr, 0, MPI_BYTE, other, kLargeDoneTag, communicator_, MPI_STATUS_IGNORE);
      continue;
    }
    for (std::size_t i = 0; i < batch; ++i)
      MPI_Irecv(updates.data() + i * length_, floats, MPI_FLOAT, other, kLargeRowTag, communicator_,
                &open[i]);
    MPI_Recv(asked.data(), key_bytes, MPI_BYTE, other, kLargeKeysTag, communicator_, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < batch; ++i) {
      MPI_Wait(&open[i], MPI_STATUS_IGNORE);
      float* __restrict const to = row(asked[i]);
      const float* const update = updates.data() + i * length_;
      for (std::size_t j = 0; j < length_; ++j) to[j] += update[j];
    }
    MPI_Send(nullptr, 0, MPI_BYTE, other, kLargeDoneTag, communicator_);
  }
  const double seconds = seconds_between(begin, Clock::now());
  MPI_Barrier(communicator_);
  return seconds;
}

}  // namespace lapse::bench
