// The kinds of frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace lapse {

enum class FrameKind : std::uint16_t {
  pull = 1,
  push = 2,
  set = 3,
  pull_answer = 4,
  push_answer = 5,
  localize = 6,
  instruct = 7,
  transfer = 8,
  workers_up = 9,  // collectives of workers, towards the root and back
  workers_down = 10,
  wave_up = 11,  // waves of termination detection
  wave_down = 12,
  poison = 13,
  call = 14,  // a registered function, at the owner
  call_answer = 15,
  failed_answer = 16,  // user code threw at the owner, or the key could not be created
  // Within a domain, between the rank that serves a key and the others:
  localize_for = 17,  // a worker of the sender localizes the key
  localize_answer = 18,
  lease_request = 19,  // a worker of the sender requests a lease of the key
  lease_grant = 20,
  lease_release = 21,  // the lease has ended; operations or requests wait for its end
  refuse = 22,         // answers localize: the home cannot create the key
  // Within a domain: the serving rank could not get the key.
  localize_failed = 23,
  lease_refused = 24,
  // Why a worker waits:
  key_inquiry = 25,  // from a worker that waits for the key
  key_inquiry_answer = 26,
  worker_inquiry = 27,  // from a worker that waits for other workers, or for a sign of life
  worker_inquiry_answer = 28,
  // Operations on many keys whose values have one length, and their answers: all keys, followed by all
  // values.
  pull_run = 29,
  push_run = 30,
  set_run = 31,
  pull_run_answer = 32,  // values of keys in the order of the request
  push_run_answer = 33,  // for push and set: no bytes
  // Replicas. From a domain to the owner:
  on = 34,     // the domain wants the key
  delta = 35,  // how the domain's replica has changed
  off = 36,    // the domain no longer wants the key; carries the last delta
  // From the owner:
  snapshot = 37,               // answers on: the value
  offer = 38,                  // answers on, or asks a holder: the domain shall localize the key
  refuse_copy = 39,            // answers on: the domain gets no replica
  refresh = 40,                // the value has changed; answers delta
  acknowledge = 41,            // answers off
  transfer_with_members = 42,  // transfer, of a key that other domains hold replicas of
  // Within a domain, to the rank that serves a key:
  want = 43,  // workers of the sender want the key
  unwant = 44,
  // For a worker that waits until replicas are merged and refreshed. Within a domain:
  sync_for = 45,  // a worker of the sender waits
  sync_for_answer = 46,
  // Between ranks that serve the same keys for different domains:
  sync = 47,  // asks to refresh the sender's replicas
  sync_answer = 48,
  stop_request = 49,  // workers of every rank should return
  credit = 50,        // how many bytes of refresh and delta from the receiver the sender has handled
  group_failed = 51,  // a worker of a group has failed; why
  // Operations on single elements of a key's value:
  pull_elements = 52,
  push_elements = 53,  // answered by push_answer
  pull_elements_answer = 54,
  // Levels of clocks: the minimum of a subtree, and of all ranks, over the tree of ranks.
  level_up = 55,
  level_down = 56,
  level_near = 57,  // within a domain: the sender's clock, and how fresh the copies are that it serves
  // To a rank that serves the same keys for another domain: all updates up to this level are sent.
  fresh = 58,
  // Changes of a key by all workers that some copy may lack: to the key's home, and back.
  reserve = 59,
  grant = 60,
  release = 61,  // all copies show them
  hasten = 62,   // from the home: other workers wait for the release of the receiver's changes
  slots = 63,    // from what seats groups of workers in the slots of ranks; its content is not the protocol's
};

// The enumerators' names, by number.
inline constexpr std::string_view kFrameNames[] = {
    "unknown", "pull", "push", "set", "pull_answer", "push_answer", "localize", "instruct", "transfer",
    "workers_up", "workers_down", "wave_up", "wave_down", "poison", "call", "call_answer", "failed_answer",
    "localize_for", "localize_answer", "lease_request", "lease_grant", "lease_release", "refuse",
    "localize_failed", "lease_refused",
    // Why a worker waits:
    "key_inquiry", "key_inquiry_answer", "worker_inquiry", "worker_inquiry_answer",
    // Operations on many keys, and their answers:
    "pull_run", "push_run", "set_run", "pull_run_answer", "push_run_answer",
    // Replicas:
    "on", "delta", "off", "snapshot", "offer", "refuse_copy", "refresh", "acknowledge",
    "transfer_with_members", "want", "unwant",
    // Syncs, and what came later:
    "sync_for", "sync_for_answer", "sync", "sync_answer", "stop_request", "credit", "group_failed",
    // Single elements:
    "pull_elements", "push_elements", "pull_elements_answer",
    // Levels of clocks:
    "level_up", "level_down", "level_near", "fresh",
    // Changes that some copy may lack:
    "reserve", "grant", "release", "hasten",
    // Groups in slots:
    "slots"};
// The numbers of kinds are below this.
inline constexpr std::size_t kFrameKinds = std::size(kFrameNames);
static_assert(kFrameKinds == static_cast<std::size_t>(FrameKind::slots) + 1);

// "unknown" for a number without a kind.
constexpr std::string_view frame_name(std::size_t kind) {
  return kFrameNames[kind < kFrameKinds ? kind : 0];
}

}  // namespace lapse
