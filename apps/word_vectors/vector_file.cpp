#include "apps/word_vectors/vector_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "apps/common/corpus.hpp"
#include "apps/common/word_splitter.hpp"
#include "apps/word_vectors/vector_input.hpp"
#include "lapse/core/byte_order_mark.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/files/input_error.hpp"
#include "lapse/io/files/utf8.hpp"
#include "lapse/io/text/input_stream.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::apps {

static_assert(std::endian::native == std::endian::little, "the binary format is little-endian");

namespace {

// About the fewest bytes of a word with the line end, and of a number in text with the blank.
constexpr std::size_t kBytesOfWord = 4;
constexpr std::size_t kBytesOfText = 10;
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;
constexpr std::size_t kMaxDimensions = 1000000;
constexpr std::size_t kMaxLineOfVector = 64 * kMaxDimensions;
constexpr std::string_view kTextOfNumbers = "0123456789+-.eEinfaINFA \t\r";

// Returns nullopt for an invalid number, and infinity for a number too large for a float.
std::optional<float> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  float number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ptr != text.data() + text.size()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range)
    return io::is_below_one(text) ? 0.0F : std::numeric_limits<float>::infinity();
  return result.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

struct VectorHeader {
  std::optional<std::size_t> words = {};
  std::size_t dimensions = 0;
};

// Whether all bytes may be text; the last character may be truncated.
bool is_possibly_text(std::string_view bytes) {
  constexpr std::size_t kMaxCutOff = 3;
  const bool is_utf8 = io::valid_utf8_bytes(bytes) + kMaxCutOff >= bytes.size();
  return is_utf8 && std::ranges::all_of(bytes, [](char byte) {
           return byte < 0 || byte >= ' ' || byte == '\t' || byte == '\n' || byte == '\r';
         });
}

// The numbers behind the first word of a file that begins with a vector in text; nullopt for other files.
std::optional<std::size_t> dimensions_without_header(VectorInput& input) {
  std::string_view rest;
  std::size_t end = std::string_view::npos;
  // The first line of other files is short.
  for (std::size_t bytes = 4096; end == std::string_view::npos; bytes = 2 * rest.size()) {
    rest = input.peek(bytes);
    end = rest.find('\n');
    if (rest.size() < bytes || rest.size() > kMaxLineOfVector || !is_possibly_text(rest.substr(0, 4096)))
      break;
  }
  WordSplitter fields(rest.substr(0, end));
  std::string_view field;
  std::size_t numbers = 0;
  if (!fields.next(field)) return std::nullopt;
  constexpr std::size_t kFewest = 10;  // of a line that begins with a number, which may be a wrong header
  const std::size_t fewest = parse_number(field) ? kFewest : 2;
  for (; fields.next(field); ++numbers)
    if (!parse_number(field)) return std::nullopt;
  return numbers < fewest || numbers > kMaxDimensions ? std::nullopt : std::optional(numbers);
}

// `words`: nullopt if the file has no header.
VectorHeader read_header(VectorInput& input) {
  if (input.peek(kByteOrderMark.size()).starts_with(kByteOrderMark)) input.take(kByteOrderMark.size());
  if (const auto dimensions = dimensions_without_header(input)) return {std::nullopt, *dimensions};
  const std::string line(input.take_until('\n', 100, "a line `words dimensions`"));
  WordSplitter fields(line);
  std::uint64_t numbers[2] = {0, 0};
  std::string_view field;
  bool fits = true;
  for (std::uint64_t& number : numbers) {
    fits = fits && fields.next(field);
    if (!fits) break;
    const auto result = std::from_chars(field.data(), field.data() + field.size(), number);
    fits = result.ec == std::errc{} && result.ptr == field.data() + field.size();
  }
  const VectorHeader header{numbers[0], numbers[1]};
  if (!fits || fields.next(field) || numbers[0] == 0 || header.dimensions == 0 ||
      header.dimensions > kMaxDimensions || numbers[0] >= 0xffffffff) {
    input.fail(fmt::format("'{}', expected a line `words dimensions`, each 1 at least, at most {} dimensions",
                           io::shown(line), kMaxDimensions));
  }
  return header;
}

// The part of the text between blanks at this position.
std::string_view field_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t before = text.find_last_of(kBlanks, at);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find_first_of(kBlanks, at) - begin);
}

// Decides by the bytes after the first word: text if they are numbers up to the line end, as many as
// dimensions. With more or fewer numbers, they may be binary numbers that look like text by chance, unless
// all bytes that the binary numbers would have are text.
VectorFormat format_of_first(VectorInput& input, std::size_t dimensions) {
  std::string_view rest;
  std::size_t end = std::string_view::npos;
  for (std::size_t bytes = 4 * dimensions; end == std::string_view::npos; bytes = rest.size() + 1) {
    const std::size_t before = rest.size();
    rest = input.peek(bytes);
    const std::size_t other = rest.find_first_not_of(kTextOfNumbers, before);
    if (other != std::string_view::npos && rest[other] != '\n') {
      if (is_possibly_text(rest.substr(0, std::max(other + 1, std::min(rest.size(), 4 * dimensions))))) {
        input.set_hint(
            fmt::format("; the file was taken for a binary one, as '{}' in its line 2 is no number",
                        io::shown(field_at(rest, other))));
      }
      return VectorFormat::binary;
    }
    end = other;
    if (rest.size() < bytes || rest.size() > kMaxLineOfVector) break;
  }
  WordSplitter fields(rest.substr(0, end));
  std::size_t count = 0;
  bool all_numbers = true;
  for (std::string_view field; fields.next(field); ++count) all_numbers = all_numbers && parse_number(field);
  if (count == dimensions || rest.size() < 4 * dimensions) return VectorFormat::text;
  if (!is_possibly_text(rest.substr(0, 4 * dimensions))) return VectorFormat::binary;
  if (count != 0 && all_numbers) return VectorFormat::text;
  input.set_hint(
      fmt::format("; the file was taken for a binary one, as its line 2 has no {} numbers", dimensions));
  return VectorFormat::binary;
}

void read_text_row(VectorInput& input, std::size_t dimensions, std::vector<float>& values) {
  const std::string_view line = input.take_until('\n', kMaxLineOfVector, "a line of numbers");
  WordSplitter fields(line);
  std::size_t count = 0;
  for (std::string_view field; fields.next(field); ++count) {
    const std::optional<float> number = parse_number(field);
    if (!number) input.fail(fmt::format("'{}', expected a number", io::shown(field)));
    values.push_back(*number);
  }
  if (count != dimensions) input.fail(fmt::format("{} numbers, expected {}", count, dimensions));
}

void read_binary_row(VectorInput& input, std::size_t dimensions, std::vector<float>& values) {
  const std::size_t bytes = dimensions * sizeof(float);
  const std::string_view rest = input.peek(bytes);
  if (rest.size() < bytes) input.fail_cut_off(fmt::format("{} numbers", dimensions));
  const std::size_t before = values.size();
  values.resize(before + dimensions);
  std::memcpy(values.data() + before, rest.data(), bytes);
  input.take(bytes);
  if (input.peek(1).starts_with('\n')) input.take(1);
}

void check_finite(const VectorInput& input, std::string_view word, std::span<const float> vector) {
  const auto wrong = std::ranges::find_if_not(vector, [](float number) { return std::isfinite(number); });
  if (wrong == vector.end()) return;
  input.fail(fmt::format("number {} of word '{}' is {}{}, expected finite numbers",
                         wrong - vector.begin() + 1, io::shown(word), *wrong,
                         std::isinf(*wrong) ? " or too large for a float" : ""));
}

}  // namespace

VectorFileWriter::VectorFileWriter(const std::string& path, VectorFormat format, std::size_t words,
                                   std::size_t dimensions)
    : file_(path, words * (kBytesOfWord +
                           dimensions * (format == VectorFormat::binary ? sizeof(float) : kBytesOfText))),
      format_(format),
      words_left_(words),
      dimensions_(dimensions) {
  block_ = fmt::format("{} {}\n", words, dimensions);
}

void VectorFileWriter::append(std::string_view word, std::span<const float> vector) {
  if (vector.size() != dimensions_ || words_left_ == 0) {
    throw UsageError(fmt::format("{}: a vector of {} numbers while {} words of {} are missing", file_.path(),
                                 vector.size(), words_left_, dimensions_));
  }
  block_ += word;
  if (format_ == VectorFormat::binary) {
    block_ += ' ';
    block_.append(reinterpret_cast<const char*>(vector.data()), vector.size_bytes());
  } else {
    for (const float number : vector) fmt::format_to(std::back_inserter(block_), " {}", number);
  }
  block_ += '\n';
  --words_left_;
  if (block_.size() >= kBlockBytes) write_block();
}

void VectorFileWriter::write_block() {
  file_.write(block_);
  block_.clear();
}

void VectorFileWriter::close() {
  if (words_left_ != 0) throw UsageError(fmt::format("{}: {} words missing", file_.path(), words_left_));
  write_block();
  file_.close();
}

ModelDescription describe_vectors(VectorFormat format, std::size_t words, std::size_t dimensions,
                                  const std::string& path) {
  ModelDescription description("word_vectors", "similarity = a @ b / (norm(a) * norm(b))");
  description.add("encoding", std::string(format == VectorFormat::text ? "text" : "binary"));
  description.add("words", std::uint64_t{words});
  description.add("dimensions", std::uint64_t{dimensions});
  description.add_file("vectors", path,
                       "word2vec: a line `words dimensions`, then each word with its numbers");
  return description;
}

namespace {

// Reads the vectors of a file without header: the word of a line is what is before its last numbers, and may
// have blanks.
void read_lines(VectorInput& input, WordVectors& vectors) {
  std::vector<std::string_view> fields;
  std::string_view field;
  for (std::uint64_t line = 1; !input.is_at_end(); ++line) {
    input.start_line(line);
    const std::string_view text = input.take_whole_line(kMaxLineOfVector);
    fields.clear();
    for (WordSplitter splitter(text); splitter.next(field);) fields.push_back(field);
    if (fields.size() <= vectors.dimensions) {
      input.fail(fmt::format("{} fields, expected a word and {} numbers", fields.size(), vectors.dimensions));
    }
    const auto numbers = std::span(fields).last(vectors.dimensions);
    const std::string_view last = fields[fields.size() - vectors.dimensions - 1];
    const std::string_view word =
        text.substr(static_cast<std::size_t>(fields[0].data() - text.data()),
                    static_cast<std::size_t>(last.data() + last.size() - fields[0].data()));
    if (word.size() > kMaxWordBytes) input.fail(fmt::format("a word of more than {} bytes", kMaxWordBytes));
    if (vectors.words.add(word, 0) + 1 != vectors.words.size() || vectors.words.size() != line)
      input.fail(fmt::format("word '{}' occurs twice", io::shown(word)));
    for (const std::string_view number : numbers) {
      const std::optional<float> value = parse_number(number);
      if (!value) input.fail(fmt::format("'{}', expected a number", io::shown(number)));
      vectors.values.push_back(*value);
    }
    check_finite(input, word, std::span(vectors.values).last(vectors.dimensions));
  }
}

}  // namespace

WordVectors read_vectors(const io::Input& input) {
  VectorInput file(input);
  const VectorHeader header = read_header(file);
  WordVectors vectors;
  vectors.dimensions = header.dimensions;
  if (!header.words) {
    read_lines(file, vectors);
    return vectors;
  }
  VectorFormat format = VectorFormat::text;
  for (std::size_t i = 0; i < *header.words; ++i) {
    file.start_line(i + 2);
    const std::string word(file.take_until(' ', kMaxWordBytes, fmt::format("word {}", i + 1)));
    if (word.empty() || word.find_first_of("\t\n\r") != std::string::npos)
      file.fail(fmt::format("'{}', expected a word", io::shown(word)));
    if (i == 0) format = format_of_first(file, header.dimensions);
    if (vectors.words.add(word, 0) != i) file.fail(fmt::format("word '{}' occurs twice", io::shown(word)));
    if (format == VectorFormat::text) {
      read_text_row(file, header.dimensions, vectors.values);
    } else {
      read_binary_row(file, header.dimensions, vectors.values);
    }
    check_finite(file, word, std::span(vectors.values).last(header.dimensions));
  }
  file.start_line(*header.words + 2);
  if (!file.is_at_end()) file.fail(fmt::format("more than the {} words of the first line", *header.words));
  return vectors;
}

}  // namespace lapse::apps
