#include "lapse/io/npy/npy_input.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "lapse/core/file_error.hpp"

namespace lapse::io {

namespace {

struct Header {
  std::string descriptor;
  bool fortran_order = false;
  NpyShape shape;
};

// Parses the dictionary of a header: its three entries once each, in any order, then blanks and a newline.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  Header parse() {
    std::optional<std::string> descriptor;
    std::optional<bool> fortran_order;
    std::optional<NpyShape> shape;
    expect("{");
    while (!accept("}")) {
      const std::string key = quoted();
      expect(":");
      if (key == "descr" && !descriptor) {
        descriptor = quoted();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        fail(fmt::format("entry '{}', expected descr, fortran_order and shape once each", key));
      }
      if (!accept(",")) {
        expect("}");
        break;
      }
    }
    if (!descriptor || !fortran_order || !shape)
      fail("an entry is missing, expected descr, fortran_order and shape");
    if (rest_.empty() || rest_.back() != '\n' || rest_.find_first_not_of(' ') != rest_.size() - 1) {
      fail("expected blanks and one newline behind the dictionary");
    }
    return {*descriptor, *fortran_order, *shape};
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw FileError(path_, ".npy header: " + problem);
  }

 private:
  bool accept(std::string_view token) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("expected '{}'", token));
  }

  std::string quoted() {
    const std::string_view quote = accept("'") ? "'" : "\"";
    if (quote == "\"") expect(quote);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) fail(fmt::format("expected a closing {}", quote));
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    if (accept("True")) return true;
    expect("False");
    return false;
  }

  NpyShape tuple() {
    NpyShape shape;
    expect("(");
    while (!accept(")")) {
      std::size_t length = 0;
      const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
      if (result.ec != std::errc{}) fail("expected the lengths of the dimensions, integers from 0");
      rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
      shape.push_back(length);
      // A tuple of one element has a comma after it.
      if (!accept(",")) {
        if (shape.size() == 1) fail("expected ',' behind the only length");
        expect(")");
        break;
      }
    }
    return shape;
  }

  const std::string& path_;
  std::string_view rest_;
};

}  // namespace

NpyInput::NpyInput(std::string path) : path_(std::move(path)), stream_(path_, std::ios::binary) {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error))
    throw FileError(path_, "is a directory, expected a .npy file");
  if (!stream_) throw FileError(path_, "cannot be opened");
  bytes_left_ = std::filesystem::file_size(path_, error);
  if (error) throw FileError(path_, fmt::format("has no known size: {}", error.message()));
  read_header();
}

void NpyInput::read_header() {
  std::array<char, 8> start{};
  read(start.data(), start.size());
  if (std::string_view(start.data(), kNpyMagic.size()) != kNpyMagic) {
    throw FileError(path_, "is no .npy file: it does not begin with \\x93NUMPY");
  }
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0) {
    throw FileError(path_, fmt::format(".npy version {}.{}, expected 1.0, 2.0 or 3.0", major, int{start[7]}));
  }
  std::array<unsigned char, 4> length{};
  read(length.data(), major == 1 ? 2 : 4);
  const std::size_t header_bytes =
      length[0] | std::size_t{length[1]} << 8 | std::size_t{length[2]} << 16 | std::size_t{length[3]} << 24;
  if (header_bytes > bytes_left_) throw FileError(path_, "ends within its .npy header");
  std::string text(header_bytes, '\0');
  read(text.data(), text.size());
  Header header = HeaderParser(path_, text).parse();
  descriptor_ = std::move(header.descriptor);
  shape_ = std::move(header.shape);
  fortran_order_ = header.fortran_order;
}

void NpyInput::require(std::string_view descriptor, std::size_t element_bytes) const {
  if (descriptor_ != descriptor) {
    throw FileError(path_, fmt::format("elements of type '{}', expected '{}'", descriptor_, descriptor));
  }
  if (fortran_order_) throw FileError(path_, "is in Fortran order, expected C order");
  if (shape_.empty() || shape_.size() > 2) {
    throw FileError(path_, fmt::format("has {} dimensions, expected 1 or 2", shape_.size()));
  }
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(shape_[0], columns(), &elements) ||
      __builtin_mul_overflow(elements, element_bytes, &bytes) || bytes != bytes_left_) {
    throw FileError(path_, fmt::format("has {} bytes of data, which is not what its shape ({}) needs",
                                       bytes_left_, fmt::join(shape_, " x ")));
  }
}

void NpyInput::read(void* destination, std::size_t bytes) {
  stream_.read(static_cast<char*>(destination), static_cast<std::streamsize>(bytes));
  if (!stream_) throw FileError(path_, "ends early or cannot be read");
  bytes_left_ -= bytes;
}

}  // namespace lapse::io
