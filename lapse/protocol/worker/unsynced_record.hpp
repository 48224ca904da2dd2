// The reasons why a rank is not synced.
#pragma once

#include <cstdint>

namespace lapse {

// What a rank still waits for before its replicas are merged and refreshed.
enum class Unsynced : std::uint32_t {
  nothing,
  announcement,   // ON is not answered
  change,         // DELTA is not answered
  end,            // OFF is not answered
  upgrade,        // LOCALIZE of a replica is not answered
  arrival,        // a key is in flight to the rank
  leased_main,    // a main copy has changed and is leased: replicas cannot be refreshed
  unsent_change,  // a replica has changed
  refresh,        // a main copy has changed
  wants,          // workers have begun or ceased to want keys
  credit,         // a main copy has changed, and another rank has not handled earlier refreshes
  sync,           // another rank has not answered a sync, or its refreshes have not arrived
};
constexpr std::uint32_t kUnsyncedKinds = 12;

// A part of worker_inquiry_answer.
struct UnsyncedRecord {
  std::uint32_t what = 0;
  std::uint32_t table = 0;
  std::uint64_t key = 0;    // the first such key; wants, credit, sync: none
  std::uint64_t count = 0;  // of such keys
  std::int32_t peer = -1;   // announcement, change, end, upgrade: the owner's serving rank, as far as it is
                            // known; arrival: the home's; credit, sync: the rank
  // announcement, change, end, upgrade: since the replica of this key was requested, refreshed, or given up;
  // arrival: since the key was requested, or something began to wait for it.
  std::uint32_t milliseconds = 0;
};
static_assert(sizeof(UnsyncedRecord) == 32);

}  // namespace lapse
