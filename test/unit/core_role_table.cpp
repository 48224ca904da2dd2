#include "lapse/core/role_table.hpp"

#include <iterator>

#include "test/support/catch.hpp"

using namespace lapse;

namespace {
constexpr Role kRoles[] = {Role::absent, Role::arriving, Role::awaiting, Role::closing,
                           Role::owner,  Role::replica,  Role::upgrading};
constexpr RoleEvent kEvents[] = {RoleEvent::create,    RoleEvent::localize, RoleEvent::arrive,
                                 RoleEvent::merge,     RoleEvent::instruct, RoleEvent::pass_on,
                                 RoleEvent::keep_copy, RoleEvent::refuse,   RoleEvent::announce,
                                 RoleEvent::copy,      RoleEvent::drop,     RoleEvent::acknowledge};
}  // namespace

TEST_CASE("The transitions of roles are those of the protocol and no others") {
  struct Transition {
    Role from;
    RoleEvent event;
    Role to;
  };
  constexpr Transition kLegal[] = {
      {Role::absent, RoleEvent::create, Role::owner},
      {Role::absent, RoleEvent::localize, Role::arriving},
      {Role::absent, RoleEvent::announce, Role::awaiting},
      {Role::arriving, RoleEvent::arrive, Role::owner},
      {Role::arriving, RoleEvent::pass_on, Role::absent},
      {Role::arriving, RoleEvent::keep_copy, Role::replica},
      {Role::arriving, RoleEvent::refuse, Role::absent},
      {Role::awaiting, RoleEvent::copy, Role::replica},
      {Role::awaiting, RoleEvent::localize, Role::arriving},
      {Role::awaiting, RoleEvent::drop, Role::closing},
      {Role::awaiting, RoleEvent::refuse, Role::absent},
      {Role::closing, RoleEvent::acknowledge, Role::absent},
      {Role::owner, RoleEvent::instruct, Role::absent},
      {Role::owner, RoleEvent::keep_copy, Role::replica},
      {Role::replica, RoleEvent::localize, Role::upgrading},
      {Role::replica, RoleEvent::drop, Role::closing},
      {Role::upgrading, RoleEvent::merge, Role::arriving},
  };
  std::size_t legal = 0;
  for (const Role role : kRoles) {
    for (const RoleEvent event : kEvents) legal += next_role(role, event).has_value() ? 1 : 0;
  }
  CHECK(legal == std::size(kLegal));
  for (const auto& [from, event, to] : kLegal) CHECK(next_role(from, event) == to);
}

TEST_CASE("What may be touched directly is usable; only the main copy is what the serving rank executes on") {
  for (const Role role : kRoles) {
    for (const bool leased : {false, true}) {
      const DirectAccess access = direct_access(role, leased);
      if (access != DirectAccess::nothing) CHECK(has_usable_value(role));
      CHECK((access == DirectAccess::main) == (handling(role, leased) == Handling::execute));
    }
    CHECK(has_main_copy(role) == (role == Role::owner));
  }
}

TEST_CASE("A leased owner is handled like an arriving key") {
  CHECK(handling(Role::owner, true) == handling(Role::arriving, false));
  CHECK(instruction(Role::owner, true) == instruction(Role::arriving, false));
  CHECK(direct_access(Role::owner, true) == direct_access(Role::arriving, false));
}

TEST_CASE("An INSTRUCT finds the main copy or its arrival, else the message is wrong") {
  CHECK(instruction(Role::owner, false) == Instruction::transfer);
  CHECK(instruction(Role::arriving, false) == Instruction::queue);
  CHECK(instruction(Role::upgrading, false) == Instruction::queue);
  for (const Role role : {Role::absent, Role::awaiting, Role::closing, Role::replica})
    CHECK(instruction(role, false) == Instruction::illegal);
}
