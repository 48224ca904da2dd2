#include "lapse/checkpoint/shard_format.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/core/bytes.hpp"

namespace lapse {

namespace {

using Reason = CheckpointError::Reason;

void write_magic(ByteWriter& writer, std::string_view magic) {
  writer.write_all(std::span<const char>(magic.data(), magic.size()));
}

bool has_magic(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

// Appends the checksum of all bytes.
void seal(std::vector<std::byte>& bytes) {
  const std::uint64_t sum = checksum(bytes);
  ByteWriter(bytes).write(sum);
}

void require_sealed(std::span<const std::byte> bytes, const std::string& file, std::string_view part) {
  const std::span<const std::byte> content = bytes.first(bytes.size() - sizeof(std::uint64_t));
  if (ByteReader(bytes.subspan(content.size())).read<std::uint64_t>() != checksum(content))
    throw CheckpointError(Reason::damaged, file, fmt::format("the checksum of its {} differs", part));
}

struct ElementName {
  CheckpointElement element;
  std::string_view name;
};
constexpr std::array<ElementName, 4> kElementNames{{{CheckpointElement::float32, "float32"},
                                                    {CheckpointElement::float64, "float64"},
                                                    {CheckpointElement::int32, "int32"},
                                                    {CheckpointElement::int64, "int64"}}};

}  // namespace

std::string_view element_name(CheckpointElement element) {
  for (const ElementName& one : kElementNames)
    if (one.element == element) return one.name;
  return "unknown";
}

std::optional<CheckpointElement> element_of(std::string_view name) {
  for (const ElementName& one : kElementNames)
    if (one.name == name) return one.element;
  return std::nullopt;
}

// --- header

std::vector<std::byte> ShardHeader::to_bytes() const {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  const std::uint64_t name_bytes = padded_to_8(table.size());
  write_magic(writer, kMagic);
  writer.write(kVersion);
  writer.write(static_cast<std::uint32_t>(kFixedBytes + name_bytes + sizeof(std::uint64_t)));
  writer.write(checkpoint);
  writer.write(length);
  writer.write(state_elements);
  writer.write(static_cast<std::uint8_t>(element));
  writer.write_all(std::span<const char>("\0\0", 3));
  writer.write(static_cast<std::uint32_t>(table.size()));
  writer.write_all(std::span<const char>(table.data(), table.size()));
  bytes.resize(kFixedBytes + name_bytes);
  seal(bytes);
  return bytes;
}

std::size_t ShardHeader::size_of(std::span<const std::byte> beginning, const std::string& file) {
  if (beginning.size() >= kMagic.size() && !has_magic(beginning, kMagic))
    throw CheckpointError(Reason::foreign, file, "is no shard");
  if (beginning.size() < kFixedBytes) throw CheckpointError(Reason::truncated, file, "ends in its header");
  ByteReader reader(beginning.subspan(kMagic.size()));
  const auto version = reader.read<std::uint32_t>();
  if (version > kVersion) {
    throw CheckpointError(
        Reason::newer_version, file,
        fmt::format("has version {} of the format, this library reads up to version {}", version, kVersion));
  }
  const std::size_t bytes = reader.read<std::uint32_t>();
  if (version == 0 || bytes % 8 != 0 || bytes < kFixedBytes + sizeof(std::uint64_t) ||
      bytes > kFixedBytes + kMaxNameBytes + sizeof(std::uint64_t))
    throw CheckpointError(Reason::damaged, file, "has an impossible header");
  return bytes;
}

std::size_t ShardHeader::size_of_listed(std::span<const std::byte> beginning, const std::string& file,
                                        std::uint64_t offset, std::uint64_t checkpoint) {
  if (beginning.size() < kFixedBytes) return size_of(beginning, file);
  ByteReader reader(beginning.subspan(kMagic.size()));
  const auto version = reader.read<std::uint32_t>();
  reader.read_bytes(sizeof(std::uint32_t));
  const auto number = reader.read<std::uint64_t>();
  const bool is_shard = has_magic(beginning, kMagic);
  if (number == checkpoint && !is_shard) {
    throw CheckpointError(
        Reason::damaged, file,
        fmt::format("has a damaged header at byte {}: it does not begin as a shard does", offset));
  }
  if (is_shard && version > kVersion) {
    if (number != checkpoint) refuse_other_checkpoint(number, checkpoint, file);
    throw CheckpointError(Reason::damaged, file,
                          fmt::format("has a damaged header at byte {}: version {}, where the manifest has a "
                                      "version of at most {}",
                                      offset, version, kVersion));
  }
  return size_of(beginning, file);
}

void ShardHeader::refuse_other_checkpoint(std::uint64_t found, std::uint64_t expected,
                                          const std::string& file) {
  throw CheckpointError(Reason::foreign, file,
                        fmt::format("belongs to checkpoint {:016x}, expected {:016x}", found, expected));
}

ShardHeader ShardHeader::from_bytes(std::span<const std::byte> bytes, const std::string& file) {
  const std::size_t size = size_of(bytes, file);
  if (bytes.size() < size) throw CheckpointError(Reason::truncated, file, "ends in its header");
  require_sealed(bytes.first(size), file, "header");
  ByteReader reader(bytes.subspan(kMagic.size() + 2 * sizeof(std::uint32_t)));
  ShardHeader header;
  header.checkpoint = reader.read<std::uint64_t>();
  header.length = reader.read<std::uint64_t>();
  header.state_elements = reader.read<std::uint64_t>();
  header.element = static_cast<CheckpointElement>(reader.read<std::uint8_t>());
  reader.read_bytes(3);
  const std::size_t name_bytes = reader.read<std::uint32_t>();
  // A limit, so that no product of these numbers overflows.
  constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 32;
  if (element_name(header.element) == "unknown" || header.length > kMaxElements ||
      header.state_elements > kMaxElements ||
      kFixedBytes + padded_to_8(name_bytes) + sizeof(std::uint64_t) != size)
    throw CheckpointError(Reason::damaged, file, "has an impossible header");
  const std::span<const std::byte> name = reader.read_bytes(name_bytes);
  header.table.assign(reinterpret_cast<const char*>(name.data()), name.size());
  return header;
}

// --- trailer

std::vector<std::byte> ShardTrailer::to_bytes() const {
  std::vector<std::byte> result;
  ByteWriter writer(result);
  write_magic(writer, kMagic);
  for (const std::uint64_t number : {checkpoint, entries, blocks, index_offset, index_checksum, bytes})
    writer.write(number);
  seal(result);
  return result;
}

ShardTrailer ShardTrailer::from_bytes(std::span<const std::byte> bytes, const std::string& file,
                                      std::uint64_t checkpoint) {
  // A trailer that was never written has number 0.
  const bool was_written =
      ByteReader(bytes.subspan(kMagic.size())).read<std::uint64_t>() == checkpoint && checkpoint != 0;
  if (!has_magic(bytes, kMagic) && !was_written)
    throw CheckpointError(Reason::truncated, file,
                          "does not end as a shard does: it was cut off, or never finished");
  require_sealed(bytes, file, "trailer");
  ByteReader reader(bytes.subspan(kMagic.size()));
  ShardTrailer trailer;
  for (std::uint64_t* const number : {&trailer.checkpoint, &trailer.entries, &trailer.blocks,
                                      &trailer.index_offset, &trailer.index_checksum, &trailer.bytes})
    *number = reader.read<std::uint64_t>();
  return trailer;
}

}  // namespace lapse
