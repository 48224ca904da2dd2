// One factory per format; a build may lack some formats.
#pragma once

#include <memory>
#include <string_view>

#include "lapse/io/compressed/decompressor.hpp"

namespace lapse::io {

// Throw InputError if out of memory, or if the library was built without the format.
std::unique_ptr<Decompressor> make_gzip_decompressor();
std::unique_ptr<Decompressor> make_xz_decompressor();
std::unique_ptr<Decompressor> make_zstd_decompressor();

[[noreturn]] void throw_missing(Compression compression, std::string_view package);

}  // namespace lapse::io
