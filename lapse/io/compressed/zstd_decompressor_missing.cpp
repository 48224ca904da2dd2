// Replaces zstd_decompressor.cpp if libzstd is missing.
#include "lapse/io/compressed/decompressors.hpp"

namespace lapse::io {

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  throw_missing(Compression::zstd, "libzstd");
}

}  // namespace lapse::io
