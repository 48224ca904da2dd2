// Replaces xz_decompressor.cpp if liblzma is missing.
#include "lapse/io/compressed/decompressors.hpp"

namespace lapse::io {

std::unique_ptr<Decompressor> make_xz_decompressor() {
  throw_missing(Compression::xz, "liblzma");
}

}  // namespace lapse::io
