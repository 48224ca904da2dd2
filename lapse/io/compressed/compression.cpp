#include "lapse/io/compressed/compression.hpp"

#include <algorithm>

namespace lapse::io {

namespace {

struct Magic {
  Compression compression;
  std::string_view bytes;
};

// RFC 1952; the .xz file format 2.1.1.1; RFC 8878 (skippable frames, 0x184D2A50 to 0x184D2A5F, are recognized
// separately). In bzip2, a digit and pi follow the first three bytes.
constexpr Magic kMagics[] = {
    {Compression::gzip, {"\x1f\x8b", 2}},
    {Compression::xz, {"\xfd\x37zXZ\0", 6}},
    {Compression::zstd, {"\x28\xb5\x2f\xfd", 4}},
    {Compression::zip, {"PK\x03\x04", 4}},
};
constexpr std::string_view kSkippableFrameTail{"\x2a\x4d\x18", 3};
constexpr std::string_view kBzip2Start{"BZh"};
constexpr std::string_view kBzip2Block{"1AY&SY"};

bool is_no_text(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 0x80 || (value < ' ' && value != '\t' && value != '\r' && value != '\n');
}

}  // namespace

std::string_view compression_name(Compression compression) {
  switch (compression) {
    case Compression::none:
      return "plain";
    case Compression::gzip:
      return "gzip";
    case Compression::xz:
      return "xz";
    case Compression::zstd:
      return "zstd";
    case Compression::bzip2:
      return "bzip2";
    case Compression::zip:
      return "zip";
  }
  return "unknown";
}

Compression detect_compression(std::span<const char> start) {
  const std::string_view bytes(start.data(), start.size());
  if (bytes.empty()) return Compression::none;
  const bool may_be_cut_off = std::any_of(bytes.begin(), bytes.end(), is_no_text);
  for (const Magic& magic : kMagics) {
    if (bytes.starts_with(magic.bytes)) return magic.compression;
    if (may_be_cut_off && magic.bytes.starts_with(bytes)) return magic.compression;
  }
  if (bytes.size() >= 4 && (static_cast<unsigned char>(bytes[0]) & 0xf0U) == 0x50 &&
      bytes.substr(1).starts_with(kSkippableFrameTail)) {
    return Compression::zstd;
  }
  if (bytes.size() > 4 && bytes.starts_with(kBzip2Start) && bytes.substr(4).starts_with(kBzip2Block))
    return Compression::bzip2;
  return Compression::none;
}

}  // namespace lapse::io
