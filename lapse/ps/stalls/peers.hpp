// The processes of all ranks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/process/process.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// The processes that the ranks exchange at the server's start, so that a rank can find out without a message
// whether another one lives. Thread safety: any thread.
class Peers {
 public:
  struct Peer {
    std::string host;
    ProcessIdentity process;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& host& process;
    }
  };

  Peers() = default;
  // `hosts`: for each rank a number of its host.
  Peers(Rank self, std::vector<Peer> peers, std::vector<std::int32_t> hosts)
      : self_(self), peers_(std::move(peers)), hosts_(std::move(hosts)) {}

  // Returns unknown for a rank of another host or another container.
  ProcessState state(Rank rank) const;
  // Returns "rank 2, process 4711 on node3", as far as it is known.
  std::string name(Rank rank) const;
  // Returns the ranks among `ranks` whose processes are known to be stopped or to have ended.
  std::vector<Rank> halted(const std::vector<Rank>& ranks) const;
  // The same, among all ranks.
  std::vector<Rank> halted() const;

 private:
  bool is_halted(Rank rank) const {
    const ProcessState now = state(rank);
    return now == ProcessState::stopped || now == ProcessState::ended;
  }

  Rank self_;
  std::vector<Peer> peers_;
  std::vector<std::int32_t> hosts_;
};

}  // namespace lapse
