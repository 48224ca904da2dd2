// One maker for each format, of which a build may lack some.
#pragma once

#include <memory>
#include <string_view>

#include "lapse/io/compressed/decompressor.hpp"

namespace lapse::io {

// Throw InputError when memory is short, or when the library was built without the format.
std::unique_ptr<Decompressor> make_gzip_decompressor();
std::unique_ptr<Decompressor> make_xz_decompressor();
std::unique_ptr<Decompressor> make_zstd_decompressor();

[[noreturn]] void throw_missing(Compression compression, std::string_view package);

}  // namespace lapse::io
