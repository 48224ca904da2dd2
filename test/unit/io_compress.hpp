// Compressed data for the io tests, made by the compression libraries.
#pragma once

#define ZLIB_CONST
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lapse/io/compressed/compression.hpp"

namespace lapse::test {

inline std::string gzip(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string result(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int status = deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("gzip failed");
  return result;
}

inline std::string xz(std::string_view content) {
  std::string result(lzma_stream_buffer_bound(content.size()), '\0');
  std::size_t size = 0;
  if (lzma_easy_buffer_encode(
          1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(content.data()), content.size(),
          reinterpret_cast<std::uint8_t*>(result.data()), &size, result.size()) != LZMA_OK) {
    throw std::runtime_error("xz failed");
  }
  result.resize(size);
  return result;
}

// With a checksum, like the program zstd writes it.
inline std::string zstd(std::string_view content) {
  std::string result(ZSTD_compressBound(content.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const std::size_t size =
      ZSTD_compress2(context, result.data(), result.size(), content.data(), content.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size) != 0) throw std::runtime_error("zstd failed");
  result.resize(size);
  return result;
}

inline std::string compress(io::Compression compression, std::string_view content) {
  switch (compression) {
    case io::Compression::gzip:
      return gzip(content);
    case io::Compression::xz:
      return xz(content);
    case io::Compression::zstd:
      return zstd(content);
    default:
      return std::string(content);
  }
}

}  // namespace lapse::test
