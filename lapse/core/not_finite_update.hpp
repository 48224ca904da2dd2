// The exception for updates that a table refuses.
#pragma once

#include <cstddef>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A push or set with an infinite or NaN element, to a table that refuses such elements. Nothing of the call
// was applied.
class LAPSE_EXPORT NotFiniteUpdate : public UsageError {
 public:
  // `call`: the worker's call, such as "a push". `where`: the worker's rank. `element`: its number in the
  // key's row, from 0.
  NotFiniteUpdate(std::string_view call, std::string_view table, Key key, std::size_t element, double value,
                  Rank where);
  Key key() const { return key_; }
  std::size_t element() const { return element_; }
  Rank where() const { return where_; }

 private:
  Key key_;
  std::size_t element_;
  Rank where_;
};

}  // namespace lapse
