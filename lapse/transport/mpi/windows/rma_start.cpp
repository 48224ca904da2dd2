#include "lapse/transport/mpi/windows/rma_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/host/shared_memory_remedies.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/mpi_library.hpp"
#include "lapse/transport/mpi/windows/rma_self_test.hpp"
#include "lapse/transport/mpi/windows/shared_windows.hpp"
#include "lapse/transport/rma/rdma_devices.hpp"

namespace lapse {

namespace {

constexpr std::size_t kTimedBytes = std::size_t{64} << 10;
// Generous bound of what the MPI library adds to a window's file beside the memory asked for.
constexpr std::size_t kRingFileOverhead = std::size_t{1} << 20;
constexpr std::string_view kNoWindows = "set the option rma=off";

// The remedies if windows do not work.
std::string remedy_of_library() {
  const std::string_view remedy = mpi_library().windows_remedy;
  return remedy.empty() ? std::string(kNoWindows) : fmt::format("{}, or {}", remedy, kNoWindows);
}

class Start {
 public:
  Start(const MpiCommunicator& communicator, const MpiTransportSettings& settings)
      : communicator_(communicator),
        settings_(settings),
        start_{RmaReceiveRingLayout(communicator.hosts(), settings.rma_ring_bytes), std::nullopt, false, {}} {
  }

  RmaStart run() {
    if (const std::string reason = reason_against(); !reason.empty()) {
      start_.report.text = fmt::format("bulk payloads go by message: {}", reason);
    } else {
      make_window();
    }
    return std::move(start_);
  }

 private:
  bool automatic() const { return settings_.rma == RmaChoice::automatic; }

  std::string agree(std::string_view mine) const {
    return first_message_polled(communicator_.lock(), communicator_.get(), mine);
  }

  // Why no window is tried; empty if one is. The same on every rank.
  std::string reason_against() const {
    if (settings_.rma == RmaChoice::off) return "rma=off";
    if (communicator_.ranks() == 1) return "there is a single rank";
    if (start_.layout.ring_bytes() < settings_.rma_smallest_bytes) {
      return fmt::format("rings of {} bytes are too short", start_.layout.ring_bytes());
    }
    if (!automatic()) return {};
    if (start_.layout.within_host()) return "rma=auto, and all ranks are on one host";
    const bool native = has_active_rdma_port(settings_.rdma_devices);
    const std::string lack =
        agree(native ? "" : communicator_.host_name() + " has no network adapter with remote memory access");
    return lack.empty() ? std::string() : "rma=auto, and on " + lack;
  }

  void make_window() {
    std::string problem = agree(too_little_shared_memory());
    const std::string remedy =
        problem.empty() ? remedy_of_library() : fmt::format("{}, or {}", kMoreSharedMemory, kNoWindows);
    if (problem.empty()) problem = allocate();
    if (problem.empty()) problem = agree(test());
    if (!problem.empty()) {
      start_.window.reset();
      start_.report = {
          true, fmt::format("bulk payloads go by message, because windows do not work: on {}; {}", problem,
                            remedy)};
    } else if (!automatic()) {
      // Open MPI then refuses windows of given memory, or hangs; do not rely on other libraries either.
      const bool multiple = communicator_.thread_level() == MPI_THREAD_MULTIPLE;
      const std::string against = agree(multiple ? "MPI was initialised with MPI_THREAD_MULTIPLE" : "");
      start_.remote_reads = against.empty();
      start_.report.text =
          fmt::format("bulk payloads {} go by remote memory access: rma=on{}", where(),
                      against.empty() ? ", and so do lookups of owners"
                                      : "; there are no lookups of owners, as on " + against);
    } else {
      keep_if_faster();
    }
  }

  const char* where() const { return start_.layout.within_host() ? "within the host" : "between hosts"; }

  std::string too_little_shared_memory() const {
    // Windows between hosts are stored in memory that is not shared.
    if (!start_.layout.within_host()) return {};
    std::size_t needed = kRingFileOverhead;
    for (std::int32_t rank = 0; rank < communicator_.ranks(); ++rank) {
      needed += start_.layout.window_bytes(Rank(rank)) + MpiRmaWindow::kAlignment;
    }
    const std::size_t free = MpiSharedWindows::free_bytes();
    if (needed <= free) return {};
    return fmt::format("{} bytes of shared memory are wanted and {} has {}", needed,
                       MpiSharedWindows::directory(), free);
  }

  std::string allocate() {
    std::string problem;
    try {
      start_.window.emplace(communicator_, start_.layout.window_bytes(communicator_.rank()));
    } catch (const Error& error) {
      problem = error.what();
    }
    if (std::string agreed = agree(problem); !agreed.empty()) return agreed;
    const std::byte padding{start_.window->padding()};
    std::vector<std::uint8_t> paddings;
    for (const auto& one : all_gather_polled(communicator_.lock(), communicator_.get(), {&padding, 1})) {
      paddings.push_back(static_cast<std::uint8_t>(one.front()));
    }
    start_.window->set_paddings(std::move(paddings));
    return {};
  }

  std::string test() {
    try {
      return test_rma_window(communicator_, start_.layout, *start_.window, settings_.rma_test_limit);
    } catch (const Error& error) {
      return error.what();
    }
  }

  void keep_if_faster() {
    const std::size_t bytes = std::min(kTimedBytes, start_.layout.ring_bytes());
    RmaTimes times = time_rma_window(communicator_, start_.layout, *start_.window, bytes);
    const auto all =
        all_gather_polled(communicator_.lock(), communicator_.get(), std::as_bytes(std::span(&times, 1)));
    std::memcpy(&times, all[0].data(), sizeof times);
    const bool faster = times.window < times.message;
    start_.report.text = fmt::format(
        "bulk payloads {} go by {}: rma=auto, {} KiB took {:.0f} us by window and {:.0f} us by message",
        where(), faster ? "remote memory access" : "message", bytes >> 10U, times.window, times.message);
    if (faster) return;
    start_.window->free(communicator_);
    start_.window.reset();
  }

  const MpiCommunicator& communicator_;
  const MpiTransportSettings& settings_;
  RmaStart start_;
};

}  // namespace

RmaStart start_rma(const MpiCommunicator& communicator, const MpiTransportSettings& settings) {
  return Start(communicator, settings).run();
}

}  // namespace lapse
