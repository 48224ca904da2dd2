// The role of a domain for a key, and everything that follows from it: the only table of roles.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// All switches name all roles, so the compiler points the author of a new role to every decision about it.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
#pragma GCC diagnostic error "-Wswitch-enum"

namespace lapse {

// The role of a domain for a key. Stored in three bits of the slot word. The highest bit means that a value
// is usable in this domain's memory, so a reader needs one masked compare. A zero slot word is absent.
enum class Role : std::uint8_t {
  absent = 0,     // another domain owns the key; the slot word may hold its number as a hint
  arriving = 1,   // localized by this domain, value in flight; operations queue
  awaiting = 2,   // this domain has announced that it wants the key; the owner has not answered yet
  closing = 3,    // this domain has dropped its replica; the owner has not acknowledged that yet
  owner = 4,      // the main copy is in this domain
  replica = 5,    // a replica is in this domain
  upgrading = 6,  // a replica is in this domain, and the main copy has been localized
};
inline constexpr std::uint8_t kUsableRoleBit = 4;

constexpr bool has_usable_value(Role role) {
  return (static_cast<std::uint8_t>(role) & kUsableRoleBit) != 0;
}

// Events that change a key's role in a domain; only by the serving rank.
enum class RoleEvent : std::uint8_t {
  create,       // the home makes the key: at the table's creation, or an uninitialized key of a sparse table
  localize,     // the key is requested: LOCALIZE is in flight, or the home asks itself
  arrive,       // TRANSFER has arrived, and the queue has been drained
  merge,        // TRANSFER has arrived at a replica, which is the main copy now; its queue is drained next
  instruct,     // an INSTRUCT to transfer ownership: the main copy has been sent in a TRANSFER
  pass_on,      // like instruct, if the INSTRUCT was in the queue of the arrival
  keep_copy,    // like instruct or pass_on, but the domain wants the key: a replica stays
  refuse,       // REFUSE or REFUSE_COPY has arrived: the key could not be made, or replicated
  announce,     // the domain wants the key: ON is in flight
  copy,         // SNAPSHOT has arrived
  drop,         // the domain no longer wants the key: OFF is in flight
  acknowledge,  // ACK has arrived: the owner has accepted OFF
};

constexpr std::string_view role_name(Role role) {
  switch (role) {
    case Role::absent:
      return "absent";
    case Role::arriving:
      return "arriving";
    case Role::awaiting:
      return "awaiting";
    case Role::closing:
      return "closing";
    case Role::owner:
      return "owner";
    case Role::replica:
      return "replica";
    case Role::upgrading:
      return "upgrading";
  }
  return "unknown";
}

// The role after the event; nullopt if the protocol excludes the event.
constexpr std::optional<Role> next_role(Role role, RoleEvent event) {
  const auto is = [event](RoleEvent other) { return event == other; };
  switch (role) {
    case Role::absent:
      if (is(RoleEvent::create)) return Role::owner;
      if (is(RoleEvent::localize)) return Role::arriving;
      if (is(RoleEvent::announce)) return Role::awaiting;
      break;
    case Role::arriving:
      if (is(RoleEvent::arrive)) return Role::owner;
      if (is(RoleEvent::pass_on)) return Role::absent;
      if (is(RoleEvent::keep_copy)) return Role::replica;
      if (is(RoleEvent::refuse)) return Role::absent;
      break;
    case Role::upgrading:
      if (is(RoleEvent::merge)) return Role::arriving;
      break;
    case Role::awaiting:
      if (is(RoleEvent::copy)) return Role::replica;
      if (is(RoleEvent::localize)) return Role::arriving;
      if (is(RoleEvent::drop)) return Role::closing;
      if (is(RoleEvent::refuse)) return Role::absent;
      break;
    case Role::closing:
      if (is(RoleEvent::acknowledge)) return Role::absent;
      break;
    case Role::owner:
      if (is(RoleEvent::instruct)) return Role::absent;
      if (is(RoleEvent::keep_copy)) return Role::replica;
      break;
    case Role::replica:
      if (is(RoleEvent::localize)) return Role::upgrading;
      if (is(RoleEvent::drop)) return Role::closing;
      break;
  }
  return std::nullopt;
}

// Whether other threads may change the slot word meanwhile: any thread may change an absent key's hint, and a
// thread that uses a value changes latch and sequence. Such a word is changed by compare-and-swap or under
// its latch. Slot words of other roles are written by one thread only.
constexpr bool others_write_word(Role role) {
  switch (role) {
    case Role::absent:
    case Role::owner:
    case Role::replica:
    case Role::upgrading:
      return true;
    case Role::arriving:
    case Role::awaiting:
    case Role::closing:
      return false;
  }
  return true;
}

// Which copy of a value a worker may access in its domain's memory, without the engine.
enum class DirectAccess : std::uint8_t { nothing, main, copy };

// A leased key belongs to its holder only.
constexpr DirectAccess direct_access(Role role, bool leased) {
  if (!has_usable_value(role)) return DirectAccess::nothing;
  if (role != Role::owner) return DirectAccess::copy;
  return leased ? DirectAccess::nothing : DirectAccess::main;
}

// How the serving rank handles an operation that reaches it.
enum class Handling : std::uint8_t {
  execute,
  queue,
  relay,    // to the home; the domain's workers enter their operations here
  forward,  // to the home; workers of the domain's other ranks enter there, or at a cached location
};

// A leased key is handled like an arriving one; the end of its lease is the arrival.
constexpr Handling handling(Role role, bool leased) {
  switch (role) {
    case Role::absent:
      return Handling::forward;
    case Role::arriving:
    case Role::upgrading:
      return Handling::queue;
    case Role::awaiting:
    case Role::closing:
    case Role::replica:
      return Handling::relay;
    case Role::owner:
      return leased ? Handling::queue : Handling::execute;
  }
  return Handling::forward;
}

// How the serving rank handles a worker's request for the main copy: localize, or a lease.
enum class Acquisition : std::uint8_t {
  here,      // the main copy is in this domain
  join,      // it has been requested: wait for the same arrival
  begin,     // ask the home for it
  remember,  // request it later: an answer of the owner is expected first, or may be
};

constexpr Acquisition acquisition(Role role) {
  switch (role) {
    case Role::absent:
      return Acquisition::begin;
    case Role::arriving:
    case Role::upgrading:
      return Acquisition::join;
    case Role::awaiting:
    case Role::closing:
    case Role::replica:
      return Acquisition::remember;
    case Role::owner:
      return Acquisition::here;
  }
  return Acquisition::begin;
}

constexpr bool has_main_copy(Role role) {
  return acquisition(role) == Acquisition::here;
}

// How the serving rank handles an INSTRUCT to transfer ownership.
enum class Instruction : std::uint8_t { transfer, queue, illegal };

constexpr Instruction instruction(Role role, bool leased) {
  switch (role) {
    case Role::absent:
    case Role::awaiting:
    case Role::closing:
    case Role::replica:
      return Instruction::illegal;
    case Role::arriving:
    case Role::upgrading:
      return Instruction::queue;
    case Role::owner:
      return leased ? Instruction::queue : Instruction::transfer;
  }
  return Instruction::illegal;
}

// The meaning of the low half of a slot word.
enum class LowHalf : std::uint8_t {
  hint,
  arrival,  // number of the arrival record
  record,   // number of the replica's record
  slot,
};

constexpr LowHalf low_half(Role role) {
  switch (role) {
    case Role::absent:
      return LowHalf::hint;
    case Role::arriving:
      return LowHalf::arrival;
    case Role::awaiting:
    case Role::closing:
      return LowHalf::record;
    case Role::owner:
    case Role::replica:
    case Role::upgrading:
      return LowHalf::slot;
  }
  return LowHalf::hint;
}

}  // namespace lapse

#pragma GCC diagnostic pop
