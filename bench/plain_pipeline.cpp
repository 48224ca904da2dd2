#include "bench/plain_pipeline.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "bench/message_rings.hpp"
#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr int kKeysTag = 0;
constexpr int kRowsTag = 1;
constexpr int kUpdatesTag = 2;
constexpr int kDoneTag = 3;

}  // namespace

PlainPipeline::PlainPipeline(MPI_Comm communicator, std::uint64_t first, std::uint64_t rows,
                             const BatchComputation& computation)
    : communicator_(communicator), first_(first), computation_(computation) {
  MPI_Comm_rank(communicator, &rank_);
  if (rank_ == 1) rows_.resize(rows * kLength);
}

double PlainPipeline::run(const PipelineWork& work) {
  if (rank_ == 0) return compute_all(work);
  serve_all(work);
  return 0;
}

double PlainPipeline::compute_all(const PipelineWork& work) {
  constexpr int kOther = 1;
  const std::size_t in_flight = work.ahead + 1;
  const std::size_t floats = work.batch * kLength;
  KeySender keys({communicator_, kOther, kKeysTag}, work.keys, work.batch, in_flight);
  ReceiveRing<float> rows({communicator_, kOther, kRowsTag}, in_flight, floats, keys.batches());
  SendRing<float> updates({communicator_, kOther, kUpdatesTag}, in_flight, floats);
  MPI_Barrier(communicator_);
  const Clock::time_point begin = Clock::now();
  for (std::size_t batch = 0; batch < work.ahead; ++batch) keys.send(batch);
  for (std::size_t batch = 0; batch < keys.batches(); ++batch) {
    keys.send(batch + work.ahead);
    computation_.compute(rows.wait(batch), updates.buffer(batch));
    rows.release(batch);
    updates.send(batch);
  }
  MPI_Recv(nullptr, 0, MPI_BYTE, kOther, kDoneTag, communicator_, MPI_STATUS_IGNORE);
  return seconds_between(begin, Clock::now());
}

void PlainPipeline::serve_all(const PipelineWork& work) {
  constexpr int kOther = 0;
  const std::size_t batches = work.keys.size() / work.batch;
  // More than rank 0 has in flight, so that receives are posted in time even if updates are late.
  const std::size_t slots = work.ahead + 3;
  const std::size_t floats = work.batch * kLength;
  ReceiveRing<Key> keys({communicator_, kOther, kKeysTag}, slots, work.batch, batches);
  ReceiveRing<float> updates({communicator_, kOther, kUpdatesTag}, slots, floats, batches);
  SendRing<float> rows({communicator_, kOther, kRowsTag}, work.ahead + 1, floats);
  const auto position = [&](Key key) { return row_of(key); };
  MPI_Barrier(communicator_);
  std::size_t answered = 0;
  std::size_t added = 0;
  while (added < batches) {
    // The keys of a batch stay in their buffer until its updates have been added.
    const bool receives_keys = answered < batches && answered - added < slots;
    std::array<MPI_Request, 2> next{receives_keys ? keys.request(answered) : MPI_REQUEST_NULL,
                                    updates.request(added)};
    int arrived = 0;
    MPI_Waitany(static_cast<int>(next.size()), next.data(), &arrived, MPI_STATUS_IGNORE);
    if (arrived == 0) {
      gather_rows<kLength>(rows_.data(), keys.buffer(answered), position, rows.buffer(answered).data());
      rows.send(answered++);
    } else {
      add_to_rows<kLength>(rows_.data(), keys.buffer(added), position, updates.buffer(added).data());
      keys.release(added);
      updates.release(added++);
    }
  }
  MPI_Send(nullptr, 0, MPI_BYTE, kOther, kDoneTag, communicator_);
}

double PlainPipeline::sum() const {
  return std::accumulate(rows_.begin(), rows_.end(), 0.0);
}

}  // namespace lapse::bench
