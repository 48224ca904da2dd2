// Acts on a slot word that other ranks of the domain may change concurrently.
#pragma once

#include "lapse/core/progress_role.hpp"

namespace lapse {

// Only the serving rank changes the role of a key, but any worker of the domain begins and ends leases in
// shared memory: a lease may begin or end between reading a slot word and acting on it. attempt() reads the
// slot word and acts; it returns false, without effect, if the slot word has changed in between.
template <class Attempt>
void retry_while_leases_change(Attempt&& attempt) LAPSE_REQUIRES(progress_role) {
  while (!attempt()) {
  }
}

}  // namespace lapse
