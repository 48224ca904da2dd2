#include "lapse/io/compressed/decompressor.hpp"

#include <fmt/format.h>

#include "lapse/io/compressed/decompressors.hpp"
#include "lapse/io/files/input_error.hpp"

namespace lapse::io {

std::unique_ptr<Decompressor> make_decompressor(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return make_gzip_decompressor();
    case Compression::xz:
      return make_xz_decompressor();
    case Compression::zstd:
      return make_zstd_decompressor();
    default:
      throw InputError(fmt::format("is compressed with {}, expected a plain file, gzip, xz or zstd",
                                   compression_name(compression)));
  }
}

void throw_missing(Compression compression, std::string_view package) {
  throw InputError(fmt::format(
      "is compressed with {}, which this build of the library cannot read: it was made without {}",
      compression_name(compression), package));
}

}  // namespace lapse::io
