// What is done about keys that domains want: relocate, replicate, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/types.hpp"

namespace lapse {

// Three pure questions, which the protocol asks; how a domain comes to want a key is not its concern.
//
// Thread safety: any thread.
class ManagementPolicy {
 public:
  virtual ~ManagementPolicy() = default;

  // A domain begins to want a key that it does not own.
  enum class Wanted : std::uint8_t {
    nothing,   // it accesses the key where it is
    localize,  // it asks the home for the key, once
    announce,  // it lets the owner decide
  };
  // `likely_alone`: hardly any of the last keys that came to the domain was wanted by others, too.
  virtual Wanted wanted(TableId table, Key key, bool likely_alone) const = 0;

  // What has changed at the owner of a key.
  enum class Change : std::uint8_t {
    joined,   // a domain has announced that it wants the key; it counts as a member already
    dropped,  // a member, or the owner itself, has ceased to want the key, or the key has arrived
  };
  enum class Decision : std::uint8_t {
    serve,  // the owner keeps the key, and every member has a replica
    offer,  // the one member gets the key
  };
  // Asked only where an offer is possible: exactly one domain wants the key, and it is not the owner's. Where
  // more domains want the key, the owner serves them.
  virtual Decision decide(TableId table, Key key, Change change) const = 0;

  // Whether an owner that wants the key itself keeps a copy when another domain gets it. Where it does not,
  // it accesses the key where it is from then on, until it begins to want it anew.
  virtual bool keeps(TableId table, Key key) const = 0;
};

}  // namespace lapse
