// Arrays as a safetensors file.
//
//   bytes 0-7   length of the header that follows, little-endian
//   then        the header, JSON: {"name": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, ...},
//               blanks up to a multiple of 8 bytes; offsets count from the end of the header
//   then        the elements, little-endian, row by row, without gaps between arrays
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/checkpoint_tool/array_file.hpp"

namespace lapse::apps {

class SafetensorsFile final : public ArrayFile {
 public:
  SafetensorsFile(std::string path, std::vector<ArrayDescription> arrays);
  ~SafetensorsFile() override;
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  void append(std::size_t array, std::span<const std::byte> row) override;
  void close() override;

 private:
  // Buffers rows that are written together.
  struct Array {
    std::uint64_t offset = 0;  // position of the next write in the file
    std::vector<std::byte> rows;
  };

  explicit SafetensorsFile(std::string path);
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void flush(Array& array) const;

  std::string path_;
  std::string temporary_path_;
  int descriptor_;
  std::vector<Array> arrays_;
};

}  // namespace lapse::apps
