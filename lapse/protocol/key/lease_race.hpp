// Decisions based on a slot word that other ranks of the domain may change concurrently.
#pragma once

#include "lapse/core/progress_role.hpp"

namespace lapse {

// The serving rank alone changes the role of a key, but any worker of the domain begins and ends leases in
// shared memory: between polling a slot word and acting on it a lease may begin or end. attempt() polls the
// slot word and acts; it returns false, having done nothing, where the slot word has changed in between.
template <class Attempt>
void retry_while_leases_change(Attempt&& attempt) LAPSE_REQUIRES(progress_role) {
  while (!attempt()) {
  }
}

}  // namespace lapse
