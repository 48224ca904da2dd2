// A push to a table that bounds how much copies may lack.
#pragma once

#include <cstddef>
#include <functional>

#include "lapse/core/types.hpp"
#include "lapse/ps/operation.hpp"

namespace lapse {

// Carried out in parts where it must wait. A unit is a push to one key.
struct BoundedPush {
  struct Unit {
    Key key;
    double magnitude = 0;
    std::size_t end = 0;  // the first of the next unit
  };
  std::size_t size = 0;
  std::function<Unit(std::size_t first)> unit;
  std::function<Operation(std::size_t first, std::size_t end)> push;
  // Changes the value at `slot`, of which the caller holds the latch, by one unit.
  std::function<void(std::size_t first, std::size_t end, std::byte* slot)> apply;
};

}  // namespace lapse
