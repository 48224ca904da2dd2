// Lines of text, whole and in parts, from files and from sources; the encoding.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/io/files/utf8.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

struct Line {
  std::string text;
  std::uint64_t number;
  std::uint64_t offset;
  bool operator==(const Line&) const = default;
};

// Returns nullopt if the input is refused.
std::optional<std::vector<Line>> lines_of(const io::Input& input, io::FilePart part = {}) {
  std::vector<Line> lines;
  try {
    io::LineReader reader(input, part);
    for (std::string_view line; reader.next(line);)
      lines.push_back({std::string(line), reader.line_number(), reader.line_offset()});
  } catch (const FileError&) {
    return std::nullopt;
  }
  return lines;
}

// Checks that every line of a file belongs to one part, and equals the line of the whole file.
void check_parts(const std::string& path, std::uint32_t count, const std::vector<Line>& whole) {
  std::vector<Line> all;
  for (std::uint32_t index = 0; index < count; ++index) {
    const auto part = lines_of(path, {index, count});
    check(part.has_value(), "a part of a file that can be read can be read");
    all.insert(all.end(), part->begin(), part->end());
  }
  std::ranges::sort(all, {}, &Line::number);
  check(all == whole, "the parts of a file are the file");
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  static const FuzzFile file;
  FuzzInput input(data, size);
  const std::uint32_t parts = 1 + input.byte() % 5;
  const std::size_t piece = 1 + input.byte() % 64;
  const std::string bytes = input.rest();
  const std::string path = file.write(bytes);
  const auto whole = lines_of(path);
  const auto source = lines_of(source_input(bytes, piece));
  check(whole == source, "a file and a source of the same bytes have the same lines");
  if (whole) check_parts(path, parts, *whole);
  check(lapse::io::valid_utf8_bytes(bytes) <= bytes.size(), "no more bytes are valid than there are");
  return 0;
}
