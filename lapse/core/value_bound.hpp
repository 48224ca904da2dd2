// By how much the values that readers see may differ.
#pragma once

namespace lapse {

// Of a table (docs/consistency.md): positive. At clock t of a worker: bound, or bound / sqrt(t + 1). Strong:
// for the changes of all workers together, not of each.
struct ValueBound {
  double bound = 0;
  bool decays = false;
  bool strong = false;
  bool operator==(const ValueBound&) const = default;
};

}  // namespace lapse
