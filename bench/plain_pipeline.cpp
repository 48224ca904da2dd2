#include "bench/plain_pipeline.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "bench/message_rings.hpp"
#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr int kRequestTag = 0;
constexpr int kRowsTag = 1;
constexpr int kDoneTag = 2;

// The messages of rank 0. Message n has the keys of batch n, then the updates of batch n - ahead - 1, the
// last one that was computed. The first `ahead` + 1 messages have no updates and the last `ahead` + 1 no
// keys: there the bytes of the buffer are sent as they are.
struct Requests {
  explicit Requests(const PipelineWork& pipeline)
      : work(pipeline),
        batches(work.keys.size() / work.batch),
        messages(batches + work.ahead + 1),
        bytes(work.batch * (kKeyBytes + kValueBytes)) {}

  bool has_keys(std::size_t message) const { return message < batches; }
  bool has_updates(std::size_t message) const { return message > work.ahead; }
  std::span<Key> keys(std::span<std::byte> message) const {
    return {reinterpret_cast<Key*>(message.data()), work.batch};
  }
  std::span<float> updates(std::span<std::byte> message) const {
    return {reinterpret_cast<float*>(message.data() + work.batch * kKeyBytes), work.batch * kLength};
  }

  const PipelineWork& work;
  std::size_t batches;
  std::size_t messages;
  std::size_t bytes;
};

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
  const Requests layout(work);
  const std::size_t in_flight = work.ahead + 1;
  SendRing<std::byte> requests({communicator_, kOther, kRequestTag}, in_flight, layout.bytes);
  ReceiveRing<float> rows({communicator_, kOther, kRowsTag}, in_flight, work.batch * kLength, layout.batches);
  MPI_Barrier(communicator_);
  const Clock::time_point begin = Clock::now();
  for (std::size_t number = 0; number < layout.messages; ++number) {
    const std::span<std::byte> message = requests.buffer(number);
    if (layout.has_updates(number)) {
      const std::size_t batch = number - in_flight;
      computation_.compute(rows.wait(batch), layout.updates(message));
      rows.release(batch);
    }
    if (layout.has_keys(number)) {
      std::ranges::copy(work.keys.subspan(number * work.batch, work.batch), layout.keys(message).begin());
    }
    requests.send(number);
  }
  MPI_Recv(nullptr, 0, MPI_BYTE, kOther, kDoneTag, communicator_, MPI_STATUS_IGNORE);
  return seconds_between(begin, Clock::now());
}

void PlainPipeline::serve_all(const PipelineWork& work) {
  constexpr int kOther = 0;
  const Requests layout(work);
  const std::size_t in_flight = work.ahead + 1;
  ReceiveRing<std::byte> requests({communicator_, kOther, kRequestTag}, in_flight, layout.bytes,
                                  layout.messages);
  SendRing<float> rows({communicator_, kOther, kRowsTag}, in_flight, work.batch * kLength);
  std::vector<Key> asked(in_flight * work.batch);  // until the updates of these keys arrive
  const auto position = [&](Key key) { return row_of(key); };
  MPI_Barrier(communicator_);
  for (std::size_t number = 0; number < layout.messages; ++number) {
    const std::span<std::byte> message = requests.wait(number);
    const std::span<Key> keys = std::span(asked).subspan(number % in_flight * work.batch, work.batch);
    if (layout.has_updates(number)) {
      add_to_rows<kLength>(rows_.data(), keys, position, layout.updates(message).data());
    }
    if (layout.has_keys(number)) {
      std::ranges::copy(layout.keys(message), keys.begin());
      gather_rows<kLength>(rows_.data(), keys, position, rows.buffer(number).data());
      rows.send(number);
    }
    requests.release(number);
  }
  MPI_Send(nullptr, 0, MPI_BYTE, kOther, kDoneTag, communicator_);
}

double PlainPipeline::sum() const {
  return std::accumulate(rows_.begin(), rows_.end(), 0.0);
}

}  // namespace lapse::bench
