#include "lapse/io/vocabulary/vocabulary_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <string_view>

#include "lapse/core/byte_order_mark.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/files/output_file.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kMaxNameBytes = LineReader::kMaxLineBytes - 32;  // leaves space for the count
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;
constexpr std::string_view kForbidden{"\t\n\r\0", 4};

void check_writable(const std::string& path, std::string_view name, Vocabulary::Id id) {
  const bool fits = name.size() <= kMaxNameBytes &&
                    name.find_first_of(kForbidden) == std::string_view::npos &&
                    !(id == 0 && name.starts_with(kByteOrderMark));
  if (!fits) {
    throw UsageError(
        fmt::format("{}: name '{}' cannot be a line of text: expected no tab, line end or NUL byte, "
                    "no byte order mark and at most {} bytes",
                    path, shown(name), kMaxNameBytes));
  }
}

std::uint64_t parse_count(const LineReader& reader, std::string_view field) {
  std::uint64_t count = 0;
  const char* const end = field.data() + field.size();
  const auto result = std::from_chars(field.data(), end, count);
  if (result.ec != std::errc{} || result.ptr != end) {
    reader.fail(fmt::format("count '{}', expected an integer from 0", shown(field)), field);
  }
  return count;
}

}  // namespace

void write_vocabulary(const std::string& path, const Vocabulary& vocabulary) {
  OutputFile file(path);
  std::string block;
  for (Vocabulary::Id id = 0; id < vocabulary.size(); ++id) {
    const std::string_view name = vocabulary.name(id);
    check_writable(path, name, id);
    fmt::format_to(std::back_inserter(block), "{}\t{}\n", name, vocabulary.count(id));
    if (block.size() < kBlockBytes) continue;
    file.write(block);
    block.clear();
  }
  file.write(block);
  file.close();
}

Vocabulary read_vocabulary(const Input& input) {
  Vocabulary vocabulary;
  LineReader reader(input);
  for (std::string_view line; reader.next(line);) {
    const std::size_t tab = line.find('\t');
    const std::string_view name = line.substr(0, tab);
    if (name.empty()) reader.fail("no name, expected lines `name` or `name<TAB>count`", line);
    const std::uint64_t count = tab == std::string_view::npos ? 0 : parse_count(reader, line.substr(tab + 1));
    const std::size_t size = vocabulary.size();
    if (vocabulary.add(name, count) != size) {
      reader.fail(fmt::format("name '{}' occurs twice", shown(name)), line);
    }
  }
  return vocabulary;
}

}  // namespace lapse::io
