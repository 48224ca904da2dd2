#include "lapse/core/bytes.hpp"

#include <fmt/format.h>

#include <limits>

#include "lapse/core/error.hpp"

namespace lapse {

std::string ByteReader::read_string() {
  const std::size_t start = position_;
  const auto length = read<std::uint32_t>();
  if (length > remaining()) {
    position_ = start;
    throw_cut_short(sizeof length + std::size_t{length}, 1);
  }
  const std::span<const std::byte> text = read_bytes(length);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

void ByteReader::require_end() const {
  if (remaining() == 0) return;
  throw ProtocolError(
      fmt::format("{} of {} bytes has {} bytes more than it should", what_, bytes_.size(), remaining()));
}

void ByteReader::throw_cut_short(std::size_t count, std::size_t size) const {
  throw ProtocolError(fmt::format("{} of {} bytes is cut short: {} values of {} bytes expected at byte {}",
                                  what_, bytes_.size(), count, size, position_));
}

void ByteWriter::write_string(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError(fmt::format("a string of {} characters is too long", text.size()));
  }
  write(static_cast<std::uint32_t>(text.size()));
  write_all(std::span<const char>(text));
}

void ByteWriter::append(std::span<const std::byte> raw) {
  bytes_.insert(bytes_.end(), raw.begin(), raw.end());
}

}  // namespace lapse
