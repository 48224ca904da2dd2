#include "lapse/transport/mpi_rma_self_test.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/transport/mpi_collectives.hpp"
#include "lapse/transport/mpi_error.hpp"
#include "lapse/transport/mpi_wire.hpp"

namespace lapse {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kTestBytes = 4096;
constexpr int kRounds = 8;  // of measuring; the first ones make connections

// What rank `from` writes.
std::vector<std::byte> pattern(Rank from) {
  std::vector<std::byte> bytes(kTestBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + from.index() + 1);
  return bytes;
}

class SelfTest {
 public:
  SelfTest(const MpiCommunicator& communicator, const LandingLayout& layout, MpiRmaWindow& window,
           std::chrono::milliseconds limit)
      : communicator_(communicator),
        layout_(layout),
        window_(window),
        limit_(limit),
        deadline_(SteadyClock::now() + limit),
        self_(communicator.rank()) {}

  std::string run() {
    post_notes();
    std::string problem = write_to_partner();
    if (problem.empty()) problem = notify_partner();
    if (problem.empty()) problem = check_own_memory();
    if (!problem.empty()) give_up();
    return problem;
  }

 private:
  // False when the time limit is over.
  bool wait(MPI_Request& request, const char* call) {
    for (;;) {
      int done = 0;
      {
        const std::lock_guard guard(communicator_.lock());
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

  void post_notes() {
    const std::lock_guard guard(communicator_.lock());
    for (std::int32_t rank = 0; rank < communicator_.ranks(); ++rank) {
      if (layout_.partner(Rank(rank)) != self_) continue;
      writers_.emplace_back(rank);
      notes_.push_back(MPI_REQUEST_NULL);
      check_mpi(
          MPI_Irecv(nullptr, 0, MPI_BYTE, rank, mpi_wire::kSelfTestTag, communicator_.get(), &notes_.back()),
          "MPI_Irecv");
    }
  }

  std::string write_to_partner() {
    const Rank partner = *layout_.partner(self_);
    const std::size_t offset = *layout_.offset(self_, partner);
    written_ = pattern(self_);
    read_.resize(written_.size());
    {
      const std::lock_guard guard(communicator_.lock());
      transfer_ = window_.begin_put(written_, partner, offset);
    }
    if (!wait(transfer_, "MPI_Rput")) return late("MPI_Rput", partner);
    // A put is only known to be there after a flush, which might never return: what a get returns shows that
    // it has arrived.
    do {
      if (SteadyClock::now() > deadline_) {
        return fmt::format("bytes put from rank {} to rank {} were not there after {} ms", self_.value(),
                           partner.value(), limit_.count());
      }
      {
        const std::lock_guard guard(communicator_.lock());
        transfer_ = window_.begin_get(read_, partner, offset);
      }
      if (!wait(transfer_, "MPI_Rget")) return late("MPI_Rget", partner);
    } while (read_ != written_);
    const std::lock_guard guard(communicator_.lock());
    window_.flush(partner);
    return {};
  }

  std::string notify_partner() {
    const Rank partner = *layout_.partner(self_);
    {
      const std::lock_guard guard(communicator_.lock());
      check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, partner.value(), mpi_wire::kSelfTestTag, communicator_.get(),
                          &transfer_),
                "MPI_Isend");
    }
    return wait(transfer_, "MPI_Isend") ? std::string() : late("MPI_Isend", partner);
  }

  std::string check_own_memory() {
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      if (!wait(notes_[i], "MPI_Irecv")) return late("a note", writers_[i]);
      const std::lock_guard guard(communicator_.lock());
      window_.sync();
      const std::byte* const landed = window_.memory() + *layout_.offset(writers_[i], self_);
      if (!std::ranges::equal(pattern(writers_[i]), std::span(landed, kTestBytes))) {
        return fmt::format("rank {} does not see what rank {} has put", self_.value(), writers_[i].value());
      }
    }
    return {};
  }

  // MPI may still use the memory of what has not completed.
  void give_up() {
    const std::lock_guard guard(communicator_.lock());
    for (MPI_Request& note : notes_) {
      if (note == MPI_REQUEST_NULL) continue;
      check_mpi(MPI_Cancel(&note), "MPI_Cancel");
      check_mpi(MPI_Request_free(&note), "MPI_Request_free");
    }
    if (transfer_ == MPI_REQUEST_NULL) return;
    static_cast<void>(new std::vector<std::byte>(std::move(written_)));
    static_cast<void>(new std::vector<std::byte>(std::move(read_)));
  }

  const MpiCommunicator& communicator_;
  const LandingLayout& layout_;
  MpiRmaWindow& window_;
  const std::chrono::milliseconds limit_;
  const SteadyClock::time_point deadline_;
  const Rank self_;
  std::vector<std::byte> written_;
  std::vector<std::byte> read_;
  MPI_Request transfer_ = MPI_REQUEST_NULL;
  std::vector<Rank> writers_;       // the ranks whose partner this one is
  std::vector<MPI_Request> notes_;  // of them
};

}  // namespace

std::string test_rma_window(const MpiCommunicator& communicator, const LandingLayout& layout,
                            MpiRmaWindow& window, std::chrono::milliseconds limit) {
  return SelfTest(communicator, layout, window, limit).run();
}

RmaTimes time_rma_window(const MpiCommunicator& communicator, const LandingLayout& layout,
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
      const std::lock_guard guard(lock);
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
        const std::lock_guard guard(lock);
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
