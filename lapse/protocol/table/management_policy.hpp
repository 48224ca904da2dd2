// Decides about the keys that domains want: relocate, replicate, or leave in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/types.hpp"

namespace lapse {

// Three pure questions that the protocol asks. Why a domain wants a key does not matter to them.
//
// Thread safety: any thread.
class ManagementPolicy {
 public:
  virtual ~ManagementPolicy() = default;

  // What a domain does when it begins to want a key that it does not own.
  enum class Wanted : std::uint8_t {
    nothing,   // accesses the key where it is
    localize,  // asks the home for the key, once
    announce,  // lets the owner decide
  };
  // `likely_alone`: of the last keys that arrived in the domain, hardly any was wanted by other domains, too.
  virtual Wanted wanted(TableId table, Key key, bool likely_alone) const = 0;

  enum class Decision : std::uint8_t {
    serve,  // the owner keeps the key, and every holder has a replica
    offer,  // the only holder gets the key
  };
  // Asked only if an offer is possible: exactly one domain wants the key, and it is not the owner's. If more
  // domains want the key, the owner serves them.
  virtual Decision decide(TableId table, Key key) const = 0;

  // Whether an owner that wants the key itself keeps a replica when another domain gets the key. If not, it
  // accesses the key remotely until it begins to want it anew.
  virtual bool keeps(TableId table, Key key) const = 0;
};

}  // namespace lapse
