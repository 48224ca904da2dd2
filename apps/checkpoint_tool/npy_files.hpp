// Arrays as NumPy .npy files.
#pragma once

#include <vector>

#include "apps/checkpoint_tool/array_file.hpp"
#include "lapse/io/files/output_file.hpp"

namespace lapse::apps {

// Writes one file per array; the array's name is the path.
class NpyFiles final : public ArrayFile {
 public:
  explicit NpyFiles(const std::vector<ArrayDescription>& arrays);
  void append(std::size_t array, std::span<const std::byte> row) override;
  void close() override;

 private:
  std::vector<io::OutputFile> files_;
};

}  // namespace lapse::apps
