// The check whether the workers of a phase have a processor each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lapse {

// The contribution of one rank to a phase.
struct RankLoad {
  std::size_t workers = 0;
  std::string binding;  // the hardware threads that it may use, as a list (Topology::binding)
  bool joins = false;   // its workers join and leave during the phase

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& workers& binding& joins;
  }
};

// Returns true if the ranks of this rank's host with the same binding have more workers than the binding has
// hardware threads; a rank without workers counts as one. Then a thread that waits without sleeping keeps
// another from working. loads and hosts: by rank; hosts[r] is equal for ranks of one host.
bool is_crowded(std::span<const RankLoad> loads, std::span<const std::int32_t> hosts, std::size_t self,
                std::size_t hardware_threads);

}  // namespace lapse
