// Values as bytes that other ranks can read: for messages of the control plane.
//
// Little-endian, one field behind the other without padding: numbers, bools and enums as in memory, strings
// and vectors as a length of 8 bytes and their elements, and of classes the fields that `serialize` names:
//
//     template <class Archive>
//     void serialize(Archive& archive, unsigned) { archive& name& count; }
//
// a member, or a function beside the class that takes its object as a second argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lapse/core/bytes.hpp"
#include "lapse/core/error.hpp"

namespace lapse {

template <class Value>
concept ArchivedAsInMemory = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

// Calls serialize of a value that is a class. Writers do not change it.
template <class Archive, class Value>
void serialize_fields(Archive& archive, Value& value) {
  constexpr unsigned kVersion = 0;
  if constexpr (requires { value.serialize(archive, kVersion); }) {
    value.serialize(archive, kVersion);
  } else {
    serialize(archive, value, kVersion);
  }
}

// Used by one thread.
class ArchiveWriter {
 public:
  template <class Value>
  ArchiveWriter& operator&(const Value& value) {
    write(value);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <ArchivedAsInMemory Value>
  void write(const Value& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void write(const std::string& text) {
    write(std::uint64_t{text.size()});
    bytes_ += text;
  }
  template <class Value>
  void write(const std::vector<Value>& values) {
    static_assert(!std::is_same_v<Value, bool>);
    write(std::uint64_t{values.size()});
    for (const Value& value : values) write(value);
  }
  template <class Value>
  requires std::is_class_v<Value>
  void write(const Value& value) { serialize_fields(*this, const_cast<Value&>(value)); }

  std::string bytes_;
};

// Throws ProtocolError for bytes that no ArchiveWriter makes. Memory is taken for what has been read alone,
// whatever lengths the bytes claim. Used by one thread.
class ArchiveReader {
 public:
  explicit ArchiveReader(std::span<const std::byte> bytes) : reader_(bytes, "archive") {}

  template <class Value>
  ArchiveReader& operator&(Value& value) {
    read(value);
    return *this;
  }
  void require_end() const { reader_.require_end(); }

 private:
  // No more than the bytes that are left: each element has one at least.
  std::size_t read_length() {
    const auto length = reader_.read<std::uint64_t>();
    if (length > reader_.remaining()) throw ProtocolError("an archive has a length that exceeds its bytes");
    return length;
  }

  template <ArchivedAsInMemory Value>
  void read(Value& value) {
    value = reader_.read<Value>();
  }
  void read(bool& value) {
    const auto byte = reader_.read<std::uint8_t>();
    if (byte > 1) throw ProtocolError("an archive has a truth value that is neither 0 nor 1");
    value = byte == 1;
  }
  void read(std::string& text) {
    const auto bytes = reader_.read_bytes(read_length());
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  template <ArchivedAsInMemory Value>
  void read(std::vector<Value>& values) {
    values = reader_.read_vector<Value>(read_length());
  }
  template <class Value>
  void read(std::vector<Value>& values) {
    values.clear();
    for (std::size_t left = read_length(); left > 0; --left) read(values.emplace_back());
  }
  template <class Value>
  requires std::is_class_v<Value>
  void read(Value& value) { serialize_fields(*this, value); }

  ByteReader reader_;
};

template <class Value>
std::string to_archive(const Value& value) {
  ArchiveWriter archive;
  archive& value;
  return archive.take();
}

// Throws ProtocolError when the bytes are none that to_archive writes.
template <class Value>
Value from_archive(const std::string& bytes) {
  ArchiveReader archive(std::as_bytes(std::span(bytes)));
  Value value;
  archive& value;
  archive.require_end();
  return value;
}

}  // namespace lapse
