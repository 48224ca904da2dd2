// The kinds of frames.
#pragma once

#include <cstddef>
#include <cstdint>
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
};

// The enumerator's name; "unknown" if there is none. The compiler warns if an enumerator is missing here.
constexpr std::string_view frame_name(std::size_t kind) {
  switch (static_cast<FrameKind>(kind)) {
    case FrameKind::pull:
      return "pull";
    case FrameKind::push:
      return "push";
    case FrameKind::set:
      return "set";
    case FrameKind::pull_answer:
      return "pull_answer";
    case FrameKind::push_answer:
      return "push_answer";
    case FrameKind::localize:
      return "localize";
    case FrameKind::instruct:
      return "instruct";
    case FrameKind::transfer:
      return "transfer";
    case FrameKind::workers_up:
      return "workers_up";
    case FrameKind::workers_down:
      return "workers_down";
    case FrameKind::wave_up:
      return "wave_up";
    case FrameKind::wave_down:
      return "wave_down";
    case FrameKind::poison:
      return "poison";
    case FrameKind::call:
      return "call";
    case FrameKind::call_answer:
      return "call_answer";
    case FrameKind::failed_answer:
      return "failed_answer";
    case FrameKind::localize_for:
      return "localize_for";
    case FrameKind::localize_answer:
      return "localize_answer";
    case FrameKind::lease_request:
      return "lease_request";
    case FrameKind::lease_grant:
      return "lease_grant";
    case FrameKind::lease_release:
      return "lease_release";
    case FrameKind::refuse:
      return "refuse";
    case FrameKind::localize_failed:
      return "localize_failed";
    case FrameKind::lease_refused:
      return "lease_refused";
    case FrameKind::key_inquiry:
      return "key_inquiry";
    case FrameKind::key_inquiry_answer:
      return "key_inquiry_answer";
    case FrameKind::worker_inquiry:
      return "worker_inquiry";
    case FrameKind::worker_inquiry_answer:
      return "worker_inquiry_answer";
    case FrameKind::pull_run:
      return "pull_run";
    case FrameKind::push_run:
      return "push_run";
    case FrameKind::set_run:
      return "set_run";
    case FrameKind::pull_run_answer:
      return "pull_run_answer";
    case FrameKind::push_run_answer:
      return "push_run_answer";
    case FrameKind::on:
      return "on";
    case FrameKind::delta:
      return "delta";
    case FrameKind::off:
      return "off";
    case FrameKind::snapshot:
      return "snapshot";
    case FrameKind::offer:
      return "offer";
    case FrameKind::refuse_copy:
      return "refuse_copy";
    case FrameKind::refresh:
      return "refresh";
    case FrameKind::acknowledge:
      return "acknowledge";
    case FrameKind::transfer_with_members:
      return "transfer_with_members";
    case FrameKind::want:
      return "want";
    case FrameKind::unwant:
      return "unwant";
    case FrameKind::sync_for:
      return "sync_for";
    case FrameKind::sync_for_answer:
      return "sync_for_answer";
    case FrameKind::sync:
      return "sync";
    case FrameKind::sync_answer:
      return "sync_answer";
    case FrameKind::stop_request:
      return "stop_request";
    case FrameKind::credit:
      return "credit";
    case FrameKind::group_failed:
      return "group_failed";
    case FrameKind::pull_elements:
      return "pull_elements";
    case FrameKind::push_elements:
      return "push_elements";
    case FrameKind::pull_elements_answer:
      return "pull_elements_answer";
  }
  return "unknown";
}

// The numbers of kinds are below this.
inline constexpr std::size_t kFrameKinds = [] {
  constexpr std::size_t kNumbers = 256;
  std::size_t kinds = 0;
  for (std::size_t kind = 0; kind < kNumbers; ++kind)
    if (frame_name(kind) != "unknown") kinds = kind + 1;
  return kinds;
}();

}  // namespace lapse
