#include "bench/plain_move_pipeline.hpp"

#include <span>

#include "bench/message_rings.hpp"
#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr int kKeysTag = 0;
constexpr int kRowsTag = 1;

constexpr auto kRowOf = [](Key key) { return key.index(); };

}  // namespace

PlainMovePipeline::PlainMovePipeline(MPI_Comm communicator, std::uint64_t rows,
                                     const BatchComputation& computation)
    : communicator_(communicator), computation_(computation), rows_(rows * kLength), owners_(rows, 1) {
  MPI_Comm_rank(communicator, &rank_);
  other_ = 1 - rank_;
}

double PlainMovePipeline::run(const PipelineWork& work, std::size_t turns) {
  double seconds = 0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    if (static_cast<std::size_t>(rank_) == turn % 2) {
      seconds += take(work);
    } else {
      give(work);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_SUM, communicator_);
  return seconds;
}

double PlainMovePipeline::take(const PipelineWork& work) {
  const std::size_t in_flight = work.ahead + 1;
  const std::size_t floats = work.batch * kLength;
  KeySender keys({communicator_, other_, kKeysTag}, work.keys, work.batch, in_flight);
  ReceiveRing<float> rows({communicator_, other_, kRowsTag}, in_flight, floats, keys.batches());
  std::vector<float> updates(floats);
  MPI_Barrier(communicator_);
  const Clock::time_point begin = Clock::now();
  for (std::size_t batch = 0; batch < work.ahead; ++batch) keys.send(batch);
  for (std::size_t batch = 0; batch < keys.batches(); ++batch) {
    keys.send(batch + work.ahead);
    const std::span<const float> values = rows.wait(batch);
    scatter_rows<kLength>(rows_.data(), keys.batch(batch), kRowOf, values.data());
    for (const Key key : keys.batch(batch)) owners_[key.index()] = rank_;
    computation_.compute(values, updates);
    rows.release(batch);
    add_to_rows<kLength>(rows_.data(), keys.batch(batch), kRowOf, updates.data());
  }
  return seconds_between(begin, Clock::now());
}

void PlainMovePipeline::give(const PipelineWork& work) {
  const std::size_t slots = work.ahead + 1;
  const std::size_t batches = work.keys.size() / work.batch;
  ReceiveRing<Key> keys({communicator_, other_, kKeysTag}, slots, work.batch, batches);
  SendRing<float> rows({communicator_, other_, kRowsTag}, slots, work.batch * kLength);
  MPI_Barrier(communicator_);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const std::span<const Key> asked = keys.wait(batch);
    gather_rows<kLength>(rows_.data(), asked, kRowOf, rows.buffer(batch).data());
    for (const Key key : asked) owners_[key.index()] = other_;
    keys.release(batch);
    rows.send(batch);
  }
}

double PlainMovePipeline::sum() const {
  double sum = 0;
  for (std::size_t row = 0; row < owners_.size(); ++row) {
    if (owners_[row] != rank_) continue;
    for (const float value : std::span(rows_).subspan(row * kLength, kLength)) sum += value;
  }
  return sum;
}

}  // namespace lapse::bench
