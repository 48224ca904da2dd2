#include "lapse/io/decompressor.hpp"

#include <fmt/format.h>

#include "lapse/io/gzip_decompressor.hpp"
#include "lapse/io/input_error.hpp"
#include "lapse/io/xz_decompressor.hpp"
#include "lapse/io/zstd_decompressor.hpp"

namespace lapse::io {

std::unique_ptr<Decompressor> make_decompressor(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return std::make_unique<GzipDecompressor>();
    case Compression::xz:
      return std::make_unique<XzDecompressor>();
    case Compression::zstd:
      return std::make_unique<ZstdDecompressor>();
    default:
      throw InputError(fmt::format("is compressed with {}, expected a plain file, gzip, xz or zstd",
                                   compression_name(compression)));
  }
}

}  // namespace lapse::io
