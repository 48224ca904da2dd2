// Which ranks wait in a collective control call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/gather_watch.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/library/request_bag.hpp"

namespace lapse {

// MPI's collective calls do not show which rank they wait for. A rank that has waited long sends a notice
// with the gathering's number to every other rank. A rank that receives a notice of the gathering in which it
// waits answers with its own. So a gathering costs at most one message per ordered pair of ranks, and none if
// it is short.
//
// Thread safety: none; functions that call MPI are called by the holder of the MPI lock.
class MpiGatherNotices {
 public:
  MpiGatherNotices(MPI_Comm communicator, Rank self, std::int32_t ranks);

  // This rank enters the next gathering.
  void begin() { ++gathering_; }
  // Sends a notice to every rank that has none of this gathering.
  void announce() LAPSE_REQUIRES(mpi_role);
  // Receives notices and answers those of this gathering.
  void advance() LAPSE_REQUIRES(mpi_role);
  // The ranks from which no notice of this gathering has arrived.
  std::vector<Rank> missing() const;

  // Collective. When it returns, all ranks have called it and no notice is in flight. `watch` may be null.
  void drain(MpiLock& lock, GatherWatch* watch) LAPSE_EXCLUDES(mpi_role);
  // Drops unsent notices after a failure.
  void abandon() LAPSE_REQUIRES(mpi_role);

 private:
  struct Peer {
    std::uint64_t noticed = 0;  // the newest gathering of which this rank has sent it a notice
    std::uint64_t come = 0;     // the newest of which it has sent one to this rank
  };

  void send(std::size_t rank) LAPSE_REQUIRES(mpi_role);
  // Returns whether there was a notice.
  bool receive() LAPSE_REQUIRES(mpi_role);

  const MPI_Comm communicator_;
  const Rank self_;
  std::uint64_t gathering_ = 0;
  std::vector<Peer> peers_;
  // Numbers of notices, by rank.
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
  MpiRequestBag<std::unique_ptr<std::uint64_t>> requests_;
};

}  // namespace lapse
