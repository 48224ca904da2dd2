// What a domain is for a key, and everything that follows from it: the one table of roles.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// All switches name all roles: the compiler leads the author of a new role to every decision about it.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
#pragma GCC diagnostic error "-Wswitch-enum"

namespace lapse {

// What a domain is for a key. Stored in three bits of the slot word. The highest bit means that a value is
// usable in this domain's memory, so that a reader needs one masked compare. A slot word of zeroes is absent.
enum class Role : std::uint8_t {
  absent = 0,    // another domain owns the key; the slot word may hold its number as a hint
  arriving = 1,  // localized by this domain, value in flight; operations queue
  owner = 4,     // the main copy is in this domain
};
inline constexpr std::uint8_t kUsableRoleBit = 4;

constexpr bool has_usable_value(Role role) {
  return (static_cast<std::uint8_t>(role) & kUsableRoleBit) != 0;
}

// What changes the role of a key in a domain; by the serving rank alone.
enum class RoleEvent : std::uint8_t {
  create,    // the home makes the key: at the table's creation, or an uninitialized key of a sparse table
  localize,  // the key is asked for: LOCALIZE is on its way, or the home asks itself
  arrive,    // TRANSFER has come, and the queue has been drained
  pass_on,   // TRANSFER has come, and the queue held an INSTRUCT: the value went on
  refuse,    // REFUSE has come: the home could not make the key
  instruct,  // an INSTRUCT to transfer ownership: the value has been sent in a TRANSFER
};

constexpr std::string_view role_name(Role role) {
  switch (role) {
    case Role::absent:
      return "absent";
    case Role::arriving:
      return "arriving";
    case Role::owner:
      return "owner";
  }
  return "unknown";
}

// The role after the event; nothing where the protocol excludes the event.
constexpr std::optional<Role> next_role(Role role, RoleEvent event) {
  switch (role) {
    case Role::absent:
      switch (event) {
        case RoleEvent::create:
          return Role::owner;
        case RoleEvent::localize:
          return Role::arriving;
        case RoleEvent::arrive:
        case RoleEvent::pass_on:
        case RoleEvent::refuse:
        case RoleEvent::instruct:
          return std::nullopt;
      }
      break;
    case Role::arriving:
      switch (event) {
        case RoleEvent::arrive:
          return Role::owner;
        case RoleEvent::pass_on:
        case RoleEvent::refuse:
          return Role::absent;
        case RoleEvent::create:
        case RoleEvent::localize:
        case RoleEvent::instruct:
          return std::nullopt;
      }
      break;
    case Role::owner:
      switch (event) {
        case RoleEvent::instruct:
          return Role::absent;
        case RoleEvent::create:
        case RoleEvent::localize:
        case RoleEvent::arrive:
        case RoleEvent::pass_on:
        case RoleEvent::refuse:
          return std::nullopt;
      }
      break;
  }
  return std::nullopt;
}

// Whether other threads may change the slot word meanwhile: any thread may change the hint of an absent key,
// so its slot word is changed by compare-and-swap. Slot words of other roles are written by one thread alone.
constexpr bool others_write_word(Role role) {
  switch (role) {
    case Role::absent:
      return true;
    case Role::arriving:
    case Role::owner:
      return false;
  }
  return true;
}

// Which copy of a value a worker may touch in its domain's memory, without the engine.
enum class DirectAccess : std::uint8_t { nothing, main, copy };

// A leased key belongs to its holder alone.
constexpr DirectAccess direct_access(Role role, bool leased) {
  switch (role) {
    case Role::absent:
    case Role::arriving:
      return DirectAccess::nothing;
    case Role::owner:
      return leased ? DirectAccess::nothing : DirectAccess::main;
  }
  return DirectAccess::nothing;
}

// What the serving rank does with an operation that reaches it.
enum class Handling : std::uint8_t { execute, queue, forward };

// A leased key is handled like an arriving one; the end of its lease is the arrival.
constexpr Handling handling(Role role, bool leased) {
  switch (role) {
    case Role::absent:
      return Handling::forward;
    case Role::arriving:
      return Handling::queue;
    case Role::owner:
      return leased ? Handling::queue : Handling::execute;
  }
  return Handling::forward;
}

// What the serving rank does when a worker of its domain asks for the main copy: localize, or a lease.
enum class Acquisition : std::uint8_t {
  here,   // the main copy is in this domain
  join,   // it has been asked for: wait for the same arrival
  begin,  // ask the home for it
};

constexpr Acquisition acquisition(Role role) {
  switch (role) {
    case Role::absent:
      return Acquisition::begin;
    case Role::arriving:
      return Acquisition::join;
    case Role::owner:
      return Acquisition::here;
  }
  return Acquisition::begin;
}

constexpr bool has_main_copy(Role role) {
  return acquisition(role) == Acquisition::here;
}

// What the serving rank does with an INSTRUCT to transfer ownership.
enum class Instruction : std::uint8_t { transfer, queue, illegal };

constexpr Instruction instruction(Role role, bool leased) {
  switch (role) {
    case Role::absent:
      return Instruction::illegal;
    case Role::arriving:
      return Instruction::queue;
    case Role::owner:
      return leased ? Instruction::queue : Instruction::transfer;
  }
  return Instruction::illegal;
}

// What the low half of a slot word means.
enum class LowHalf : std::uint8_t { hint, arrival, slot };

constexpr LowHalf low_half(Role role) {
  switch (role) {
    case Role::absent:
      return LowHalf::hint;
    case Role::arriving:
      return LowHalf::arrival;
    case Role::owner:
      return LowHalf::slot;
  }
  return LowHalf::hint;
}

}  // namespace lapse

#pragma GCC diagnostic pop
