// Combines the parts that replicate one key.
#pragma once

#include "lapse/directory/router.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/key/key_holder.hpp"
#include "lapse/protocol/key/key_owner.hpp"
#include "lapse/protocol/key/key_transfer.hpp"
#include "lapse/protocol/key/key_wants.hpp"
#include "lapse/protocol/key/main_refreshes.hpp"
#include "lapse/protocol/key/replica_deltas.hpp"
#include "lapse/protocol/key/replica_messages.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// A domain is a holder of some keys and the owner of others; this changes when a key moves.
//
// Thread safety: the holder of the progress lock.
struct KeyReplication {
  // Only here, a part gets a reference to a later one: `relocation`, which localizes keys for the holder and
  // moves replicated keys through `transfer`.
  KeyReplication(const Registry& registry, Outbox& outbox, const Router& router, OperationSender& sender,
                 LeaseTurns& lease_turns, KeyRelocation& relocation)
      : messages(registry.ranks(), outbox, router),
        deltas(messages),
        refreshes(registry, messages),
        owner(registry, router, messages, wants, refreshes),
        transfer(registry, outbox, wants, refreshes),
        holder(registry.self(), messages, deltas, wants, owner, sender, lease_turns, relocation) {}
  KeyReplication(const KeyReplication&) = delete;
  KeyReplication& operator=(const KeyReplication&) = delete;

  KeyWants wants;
  ReplicaMessages messages;
  ReplicaDeltas deltas;
  MainRefreshes refreshes;
  KeyOwner owner;
  KeyTransfer transfer;
  KeyHolder holder;
};

}  // namespace lapse
