#include "lapse/core/file_error.hpp"

#include <fmt/format.h>

namespace lapse {

namespace {
std::string place(std::string_view file, std::uint64_t line, std::uint64_t column) {
  if (line == 0) return std::string(file);
  if (column == 0) return fmt::format("{}:{}", file, line);
  return fmt::format("{}:{}:{}", file, line, column);
}
}  // namespace

FileError::FileError(std::string_view file, std::string_view problem, std::uint64_t line,
                     std::uint64_t column)
    : Error(fmt::format("{}: {}", place(file, line, column), problem)),
      file_(file),
      line_(line),
      column_(column) {}

}  // namespace lapse
