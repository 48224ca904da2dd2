// Rating files, whole and in parts.
#include <optional>
#include <string>

#include "lapse/core/file_error.hpp"
#include "lapse/io/matrices/rating_file.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

std::optional<io::CoordinateMatrix> read(const io::Input& input, const io::RatingFileOptions& options) {
  io::RatingIds ids;
  try {
    return io::read_ratings(input, ids, options);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

void check_matrix(const io::CoordinateMatrix& matrix) {
  for (const auto& cell : matrix.cells)
    check(cell.row < matrix.rows && cell.column < matrix.columns, "each cell is in the matrix");
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  static const FuzzFile file;
  FuzzInput input(data, size);
  const std::uint8_t choice = input.byte();
  lapse::io::RatingFileOptions options;
  if ((choice & 1U) != 0) options.max_user_id = 1000;
  const std::string bytes = input.rest();
  const auto whole = read(source_input(bytes), options);
  if (!whole) return 0;
  check_matrix(*whole);
  const std::uint32_t parts = 1 + (choice >> 1U) % 4;
  const std::string path = file.write(bytes);
  std::size_t cells = 0;
  for (std::uint32_t index = 0; index < parts; ++index) {
    options.part = {index, parts};
    const auto part = read(path, options);
    check(part.has_value(), "a part of a file that can be read can be read");
    check_matrix(*part);
    cells += part->cells.size();
  }
  check(cells == whole->cells.size(), "the parts of a file have its ratings");
  return 0;
}
