// The exception for files that cannot be used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"

namespace lapse {

// A file that cannot be used: name, and where it applies line and column (from 1; 0: does not apply).
class LAPSE_EXPORT FileError : public Error {
 public:
  FileError(std::string_view file, std::string_view problem, std::uint64_t line = 0,
            std::uint64_t column = 0);
  const std::string& file() const { return file_; }
  std::uint64_t line() const { return line_; }
  std::uint64_t column() const { return column_; }

 private:
  std::string file_;
  std::uint64_t line_;
  std::uint64_t column_;
};

}  // namespace lapse
