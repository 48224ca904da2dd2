// The exception for an element that a value does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A call on single elements named an index that is not below the length of its key's value. Nothing of the
// call was applied.
class LAPSE_EXPORT IndexOutOfRange : public UsageError {
 public:
  // `length`: elements of the key's value. `where`: the worker's rank.
  IndexOutOfRange(std::string_view table, Key key, std::uint32_t index, std::size_t length, Rank where);
  Key key() const { return key_; }
  std::uint32_t index() const { return index_; }
  std::size_t length() const { return length_; }
  Rank where() const { return where_; }

 private:
  Key key_;
  std::uint32_t index_;
  std::size_t length_;
  Rank where_;
};

}  // namespace lapse
