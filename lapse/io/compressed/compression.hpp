// Detects a file's compression format by its first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse::io {

enum class Compression { none, gzip, xz, zstd, bzip2, zip };

// The number of bytes from the start of an input that decide its format.
inline constexpr std::size_t kCompressionMagicBytes = 10;

LAPSE_EXPORT std::string_view compression_name(Compression compression);

// The format of an input that starts with these bytes: its first kCompressionMagicBytes bytes, or all its
// bytes if it is shorter. An input that ends within a format's magic bytes has that format (and is cut off),
// unless it could be text.
LAPSE_EXPORT Compression detect_compression(std::span<const char> start);

}  // namespace lapse::io
