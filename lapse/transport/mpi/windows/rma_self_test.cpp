#include "lapse/transport/mpi/windows/rma_self_test.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/wire.hpp"

namespace lapse {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kTestBytes = 4096;
constexpr int kRounds = 8;  // measurements; the first ones make connections

// The bytes that rank `from` writes.
std::vector<std::byte> pattern(Rank from) {
  std::vector<std::byte> bytes(kTestBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + from.index() + 1);
  return bytes;
}

class SelfTest {
 public:
  SelfTest(const MpiCommunicator& communicator, const RmaReceiveRingLayout& layout, MpiRmaWindow& window,
           std::chrono::milliseconds limit)
      : communicator_(communicator),
        layout_(layout),
        window_(window),
        limit_(limit),
        deadline_(SteadyClock::now() + limit),
        self_(communicator.rank()) {}

  // Always sends one note to the partner and receives one from each writer, so a failure on some ranks leaves
  // no message behind.
  std::string run() {
    post_notes();
    std::string problem = text_of([this] { return write_to_partner(); });
    notify_partner(problem.empty());
    deadline_ += limit_;  // Writers may use up their time.
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      const std::string seen = text_of([this, i] { return check_memory_of(i); });
      if (problem.empty()) problem = seen;
    }
    give_up();
    return problem;
  }

 private:
  // The result of a step, or the message of what it throws.
  template <class Step>
  static std::string text_of(Step&& step) {
    try {
      return step();
    } catch (const Error& error) {
      return error.what();
    }
  }

  // False if the time limit has passed.
  bool wait(MPI_Request& request, const char* call) {
    for (;;) {
      int done = 0;
      {
        const MpiGuard guard(communicator_.lock());
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
      }
      if (done) return true;
      if (SteadyClock::now() > deadline_) return false;
      std::this_thread::yield();
    }
  }

  std::string late(const char* call, Rank other) const {
    return fmt::format("{} between ranks {} and {} took longer than {} ms", call, self_.value(),
                       other.value(), limit_.count());
  }

  std::string not_there(Rank partner) const {
    return fmt::format("bytes put from rank {} to rank {} were not there after {} ms", self_.value(),
                       partner.value(), limit_.count());
  }

  void post_notes() {
    for (std::int32_t rank = 0; rank < communicator_.ranks(); ++rank) {
      if (layout_.partner(Rank(rank)) == self_) writers_.emplace_back(rank);
    }
    notes_.resize(writers_.size(), MPI_REQUEST_NULL);
    verdicts_.resize(writers_.size());
    const MpiGuard guard(communicator_.lock());
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      check_mpi(MPI_Irecv(&verdicts_[i], 1, MPI_BYTE, writers_[i].value(), mpi_wire::kSelfTestTag,
                          communicator_.get(), &notes_[i]),
                "MPI_Irecv");
    }
  }

  std::string write_to_partner() {
    const Rank partner = *layout_.partner(self_);
    const std::size_t offset = *layout_.offset(self_, partner);
    written_ = pattern(self_);
    read_.resize(written_.size());
    {
      const MpiGuard guard(communicator_.lock());
      transfer_ = window_.begin_put(written_, partner, offset);
    }
    if (!wait(transfer_, "MPI_Rput")) return late("MPI_Rput", partner);
    // Only a flush confirms a put, and it might never return; a get that returns the bytes shows that they
    // have arrived.
    bool has_other_bytes = false;
    do {
      if (has_other_bytes && SteadyClock::now() > deadline_) return not_there(partner);
      {
        const MpiGuard guard(communicator_.lock());
        transfer_ = window_.begin_get(read_, partner, offset);
      }
      if (!wait(transfer_, "MPI_Rget"))
        return has_other_bytes ? not_there(partner) : late("MPI_Rget", partner);
      has_other_bytes = read_ != written_;
    } while (has_other_bytes);
    const MpiGuard guard(communicator_.lock());
    window_.flush(partner);
    return {};
  }

  void notify_partner(bool written) {
    my_verdict_ = written ? 1 : 0;
    const MpiGuard guard(communicator_.lock());
    check_mpi(MPI_Isend(&my_verdict_, 1, MPI_BYTE, layout_.partner(self_)->value(), mpi_wire::kSelfTestTag,
                        communicator_.get(), &notification_),
              "MPI_Isend");
  }

  std::string check_memory_of(std::size_t writer) {
    if (!wait(notes_[writer], "MPI_Irecv")) return late("a note", writers_[writer]);
    if (verdicts_[writer] == 0) return {};  // The writer reports what went wrong.
    const MpiGuard guard(communicator_.lock());
    window_.sync();
    const std::byte* const received = window_.memory() + *layout_.offset(writers_[writer], self_);
    if (std::ranges::equal(pattern(writers_[writer]), std::span(received, kTestBytes))) return {};
    return fmt::format("it does not see what rank {} has put", writers_[writer].value());
  }

  // Leaks the memory of incomplete requests: MPI may still use it.
  void give_up() {
    wait(notification_, "MPI_Isend");
    if (transfer_ != MPI_REQUEST_NULL) {
      static_cast<void>(new std::vector<std::byte>(std::move(written_)));
      static_cast<void>(new std::vector<std::byte>(std::move(read_)));
    }
    const MpiGuard guard(communicator_.lock());
    for (MPI_Request& note : notes_) {
      if (note == MPI_REQUEST_NULL) continue;
      check_mpi(MPI_Cancel(&note), "MPI_Cancel");
      check_mpi(MPI_Wait(&note, MPI_STATUS_IGNORE), "MPI_Wait");
    }
  }

  const MpiCommunicator& communicator_;
  const RmaReceiveRingLayout& layout_;
  MpiRmaWindow& window_;
  const std::chrono::milliseconds limit_;
  SteadyClock::time_point deadline_;
  const Rank self_;
  std::vector<std::byte> written_;
  std::vector<std::byte> read_;
  MPI_Request transfer_ = MPI_REQUEST_NULL;
  MPI_Request notification_ = MPI_REQUEST_NULL;
  std::uint8_t my_verdict_ = 0;
  std::vector<Rank> writers_;           // the ranks whose partner this one is
  std::vector<MPI_Request> notes_;      // from each writer
  std::vector<std::uint8_t> verdicts_;  // from each writer; 1: the bytes are there
};

}  // namespace

std::string test_rma_window(const MpiCommunicator& communicator, const RmaReceiveRingLayout& layout,
                            MpiRmaWindow& window, std::chrono::milliseconds limit) {
  return SelfTest(communicator, layout, window, limit).run();
}

RmaTimes time_rma_window(const MpiCommunicator& communicator, const RmaReceiveRingLayout& layout,
                         MpiRmaWindow& window, std::size_t bytes) {
  const Rank source(0);
  const Rank target = *layout.partner(source);
  if (communicator.rank() != source && communicator.rank() != target) return {};
  const bool sends = communicator.rank() == source;
  const int other = sends ? target.value() : source.value();
  std::vector<std::byte> buffer(bytes);
  MpiLock& lock = communicator.lock();
  const auto exchange = [&](bool send, std::size_t count) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const MpiGuard guard(lock);
      const int size = static_cast<int>(count);
      check_mpi(send ? MPI_Isend(buffer.data(), size, MPI_BYTE, other, mpi_wire::kSelfTestTag,
                                 communicator.get(), &request)
                     : MPI_Irecv(buffer.data(), size, MPI_BYTE, other, mpi_wire::kSelfTestTag,
                                 communicator.get(), &request),
                send ? "MPI_Isend" : "MPI_Irecv");
    }
    wait_polled(lock, request, "MPI_Test");
  };
  const auto best_of = [&](bool by_window) {
    double best = 1e12;
    for (int round = 0; round < kRounds; ++round) {
      const SteadyClock::time_point begin = SteadyClock::now();
      if (by_window && sends) {
        const MpiGuard guard(lock);
        window.put(buffer, target, *layout.offset(source, target));
        window.flush(target);
      }
      exchange(sends, by_window ? 0 : bytes);
      exchange(!sends, 0);
      best = std::min(best, std::chrono::duration<double, std::micro>(SteadyClock::now() - begin).count());
    }
    return best;
  };
  const RmaTimes times{best_of(false), best_of(true)};
  return sends ? times : RmaTimes{};
}

}  // namespace lapse
