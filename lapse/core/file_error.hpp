// The exception for unusable files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"

namespace lapse {

// An unusable file: its name, and line and column if they apply (from 1; 0: does not apply).
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
