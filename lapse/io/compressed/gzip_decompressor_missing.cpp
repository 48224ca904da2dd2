// Replaces gzip_decompressor.cpp if zlib is missing.
#include "lapse/io/compressed/decompressors.hpp"

namespace lapse::io {

std::unique_ptr<Decompressor> make_gzip_decompressor() {
  throw_missing(Compression::gzip, "zlib");
}

}  // namespace lapse::io
