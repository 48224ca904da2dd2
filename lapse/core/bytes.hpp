// Flat byte strings, used for messages, checkpoints and gathered statistics. Little-endian, no padding
// between fields, so that bytes written on one rank can be read on any other.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lapse/core/export.hpp"

namespace lapse {

static_assert(std::endian::native == std::endian::little,
              "values are copied to and from bytes as they are stored in memory");

// Types that may be copied to another process as bytes; not pointers.
template <class T>
concept FlatValue = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

// Reads values one after the other. The bytes must outlive the reader. Every function throws ProtocolError,
// naming what was read, if fewer bytes are left than it needs; the position is then unchanged.
class ByteReader {
 public:
  // `what`: a literal that names the bytes in error messages.
  explicit ByteReader(std::span<const std::byte> bytes, std::string_view what = "message")
      : bytes_(bytes), what_(what) {}

  std::size_t remaining() const { return bytes_.size() - position_; }

  // Returns the next `count` bytes in place.
  std::span<const std::byte> read_bytes(std::size_t count) {
    require(count, 1);
    const std::span<const std::byte> part = bytes_.subspan(position_, count);
    position_ += count;
    return part;
  }

  // Reads a value at any alignment.
  template <FlatValue T>
  T read() {
    T value;
    read_into(std::span<T>(&value, 1));
    return value;
  }

  // Fills the values.
  template <FlatValue T>
  void read_into(std::span<T> values) {
    require(values.size(), sizeof(T));
    if (values.empty()) return;
    std::memcpy(values.data(), bytes_.data() + position_, values.size_bytes());
    position_ += values.size_bytes();
  }

  template <FlatValue T>
  std::vector<T> read_vector(std::size_t count) {
    require(count, sizeof(T));  // Before allocating memory.
    std::vector<T> values(count);
    read_into(std::span<T>(values));
    return values;
  }

  // Reads a string written by ByteWriter::write_string.
  std::string read_string();

  // Throws ProtocolError if bytes are left over.
  void require_end() const;

 private:
  // Written so that no product or sum can overflow.
  void require(std::size_t count, std::size_t size) const {
    if (count > remaining() / size) throw_cut_short(count, size);
  }
  [[noreturn]] LAPSE_EXPORT_INNER void throw_cut_short(std::size_t count, std::size_t size) const;

  std::span<const std::byte> bytes_;
  std::string_view what_;
  std::size_t position_ = 0;
};

// Appends values to bytes.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <FlatValue T>
  void write(const T& value) {
    write_all(std::span<const T>(&value, 1));
  }

  template <FlatValue T>
  void write_all(std::span<const T> values) {
    append(std::as_bytes(values));
  }

  // The length as 32 bits, then the characters. Throws UsageError for more than 2^32 - 1 characters.
  LAPSE_EXPORT_INNER void write_string(std::string_view text);

 private:
  LAPSE_EXPORT_INNER void append(std::span<const std::byte> raw);

  std::vector<std::byte>& bytes_;
};

}  // namespace lapse
