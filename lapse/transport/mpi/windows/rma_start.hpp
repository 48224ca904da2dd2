// Decides once, alike on all ranks, whether an instance uses remote memory access.
#pragma once

#include <optional>

#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/library/transport_settings.hpp"
#include "lapse/transport/mpi/windows/rma_window.hpp"
#include "lapse/transport/rma/rma_receive_ring_layout.hpp"
#include "lapse/transport/rma/rma_receive_rings.hpp"

namespace lapse {

struct RmaStart {
  RmaReceiveRingLayout layout;
  std::optional<MpiRmaWindow> window;  // on every rank or on none
  bool remote_reads = false;           // whether ranks may read from each other; the same on every rank
  RmaReceiveRings::Report report;      // the same on every rank
};

// Collective. settings.rma selects: off: no window; on: a window that has passed its self-test, even if all
// ranks are on one host; automatic: one that was faster than messages, between hosts that all have an RDMA
// adapter. A window that fails is given up with a report. Remote reads need `on`: if they need the other
// rank's processor, a message is faster.
RmaStart start_rma(const MpiCommunicator& communicator, const MpiTransportSettings& settings)
    LAPSE_EXCLUDES(mpi_role);

}  // namespace lapse
