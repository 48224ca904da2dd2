// Which format a file is compressed in, by its first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse::io {

enum class Compression { none, gzip, xz, zstd, bzip2, zip };

// The format is decided by so many bytes from the start of an input.
inline constexpr std::size_t kCompressionMagicBytes = 10;

LAPSE_EXPORT std::string_view compression_name(Compression compression);

// The format of an input that starts with these bytes: the first kCompressionMagicBytes bytes or, where the
// input is shorter, all its bytes. An input that ends within the magic bytes of a format is of that format
// (and cut off), unless it could be text.
LAPSE_EXPORT Compression detect_compression(std::span<const char> start);

}  // namespace lapse::io
