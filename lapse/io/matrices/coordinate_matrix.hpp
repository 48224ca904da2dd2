// A sparse matrix as a list of its cells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lapse::io {

struct Cell {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  float value = 0;

  bool operator==(const Cell&) const = default;
};

struct CoordinateMatrix {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  // In no particular order.
  std::vector<Cell> cells;
  // Warnings for the user of the file that the matrix was read from.
  std::vector<std::string> warnings = {};
  // How that file was understood.
  std::string layout = {};
};

}  // namespace lapse::io
