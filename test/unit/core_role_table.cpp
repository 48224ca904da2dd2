#include "lapse/core/role_table.hpp"

#include "test/support/catch.hpp"

using namespace lapse;

namespace {
constexpr Role kRoles[] = {Role::absent, Role::arriving, Role::owner};
constexpr RoleEvent kEvents[] = {RoleEvent::create,  RoleEvent::localize, RoleEvent::arrive,
                                 RoleEvent::pass_on, RoleEvent::refuse,   RoleEvent::instruct};
}  // namespace

TEST_CASE("The transitions of roles are those of the protocol and no others") {
  std::size_t legal = 0;
  for (const Role role : kRoles) {
    for (const RoleEvent event : kEvents) legal += next_role(role, event).has_value() ? 1 : 0;
  }
  CHECK(legal == 6);
  CHECK(next_role(Role::absent, RoleEvent::create) == Role::owner);
  CHECK(next_role(Role::absent, RoleEvent::localize) == Role::arriving);
  CHECK(next_role(Role::arriving, RoleEvent::arrive) == Role::owner);
  CHECK(next_role(Role::arriving, RoleEvent::pass_on) == Role::absent);
  CHECK(next_role(Role::arriving, RoleEvent::refuse) == Role::absent);
  CHECK(next_role(Role::owner, RoleEvent::instruct) == Role::absent);
}

TEST_CASE("What may be touched directly is usable, and is what the serving rank would execute on") {
  for (const Role role : kRoles) {
    for (const bool leased : {false, true}) {
      const bool touches = direct_access(role, leased) != DirectAccess::nothing;
      if (touches) CHECK(has_usable_value(role));
      CHECK(touches == (handling(role, leased) == Handling::execute));
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
  CHECK(instruction(Role::absent, false) == Instruction::illegal);
}
