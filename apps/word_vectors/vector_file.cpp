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

// The bytes of an input, with lookahead.
class VectorInput {
 public:
  explicit VectorInput(const io::Input& input) : path_(io::input_name(input.path())), stream_(input) {}

  // At least `bytes` bytes from the current position, or all that are left.
  std::string_view peek(std::size_t bytes) {
    while (buffer_.size() - begin_ < bytes && !ended_) refill();
    return std::string_view(buffer_).substr(begin_);
  }
  // Takes the bytes before the delimiter, and the delimiter. The end of the file also ends the last line.
  std::string_view take_until(char delimiter, std::size_t max_bytes, std::string_view what) {
    for (std::size_t searched = 0;;) {
      const std::string_view rest = peek(searched + 1);
      const std::size_t end = rest.find(delimiter, searched);
      if (end <= max_bytes && end != std::string_view::npos) {
        take(end + 1);
        return rest.substr(0, end);
      }
      if (rest.size() > max_bytes) fail(fmt::format("more than {} bytes, expected {}", max_bytes, what));
      if (ended_) {
        if (delimiter == '\n' && !rest.empty()) {
          take(rest.size());
          return rest;
        }
        fail_cut_off(what);
      }
      searched = rest.size();
    }
  }
  void take(std::size_t bytes) { begin_ += bytes; }

  void start_line(std::uint64_t line) { line_ = line; }
  // The position for later errors.
  void set_hint(std::string hint) { hint_ = std::move(hint); }
  [[noreturn]] void fail(const std::string& problem) const { throw FileError(path_, problem + hint_, line_); }
  [[noreturn]] void fail_cut_off(std::string_view what) const {
    fail(fmt::format("the file ends, expected {}: it is cut off, or no file of word vectors", what));
  }

 private:
  void refill() {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t size = buffer_.size();
    buffer_.resize(size + kBlockBytes);
    try {
      buffer_.resize(size + stream_.read({buffer_.data() + size, kBlockBytes}));
    } catch (const io::InputError& error) {
      fail(error.what());
    }
    ended_ = buffer_.size() == size;
  }

  std::string path_;
  io::InputStream stream_;
  std::string buffer_;  // bytes not yet taken begin at begin_
  std::size_t begin_ = 0;
  bool ended_ = false;
  std::uint64_t line_ = 1;  // or the number of the vector
  std::string hint_;
};

struct VectorHeader {
  std::size_t words = 0;
  std::size_t dimensions = 0;
};

VectorHeader read_header(VectorInput& input) {
  if (input.peek(kByteOrderMark.size()).starts_with(kByteOrderMark)) input.take(kByteOrderMark.size());
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
  if (!fits || fields.next(field) || header.words == 0 || header.dimensions == 0 ||
      header.dimensions > kMaxDimensions || header.words >= 0xffffffff) {
    input.fail(fmt::format("'{}', expected a line `words dimensions`, each 1 at least, at most {} dimensions",
                           io::shown(line), kMaxDimensions));
  }
  return header;
}

// Whether all bytes may be text; the last character may be truncated.
bool is_possibly_text(std::string_view bytes) {
  constexpr std::size_t kMaxCutOff = 3;
  const bool is_utf8 = io::valid_utf8_bytes(bytes) + kMaxCutOff >= bytes.size();
  return is_utf8 && std::ranges::all_of(bytes, [](char byte) {
           return byte < 0 || byte >= ' ' || byte == '\t' || byte == '\n' || byte == '\r';
         });
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

WordVectors read_vectors(const io::Input& input) {
  VectorInput file(input);
  const VectorHeader header = read_header(file);
  WordVectors vectors;
  vectors.dimensions = header.dimensions;
  VectorFormat format = VectorFormat::text;
  for (std::size_t i = 0; i < header.words; ++i) {
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
  file.start_line(header.words + 2);
  if (file.peek(1).find_first_not_of(" \r\n") != std::string_view::npos)
    file.fail(fmt::format("more than the {} words of the first line", header.words));
  return vectors;
}

}  // namespace lapse::apps
