// Inputs of readers, made from a fuzzer's bytes.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "lapse/io/files/byte_source.hpp"
#include "lapse/io/files/input.hpp"

namespace lapse::test {

// Delivers bytes in pieces of several lengths.
class PieceSource final : public io::ByteSource {
 public:
  PieceSource(std::string_view bytes, std::size_t piece) : rest_(bytes), piece_(piece) {}

  std::size_t read(std::span<char> destination) override {
    const std::size_t count = std::min({destination.size(), piece_, rest_.size()});
    std::copy_n(rest_.begin(), count, destination.begin());
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
  std::size_t piece_;
};

// The bytes as an input of unknown size. They outlive it.
inline io::Input source_input(std::string_view bytes, std::size_t piece = std::size_t{1} << 16) {
  return {"input", [bytes, piece] { return std::make_unique<PieceSource>(bytes, piece); }};
}

// A file that only this process uses, rewritten for each input and removed at the end.
class FuzzFile {
 public:
  FuzzFile() : path_(std::filesystem::temp_directory_path() / ("lapse-fuzz-" + std::to_string(::getpid()))) {}
  ~FuzzFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;

  std::string path() const { return path_.string(); }
  std::string write(std::string_view content) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
    return path();
  }

 private:
  std::filesystem::path path_;
};

// A folder that only this process uses, removed at the end.
class FuzzFolder {
 public:
  FuzzFolder()
      : path_(std::filesystem::temp_directory_path() / ("lapse-fuzz-folder-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~FuzzFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FuzzFolder(const FuzzFolder&) = delete;
  FuzzFolder& operator=(const FuzzFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string write(const std::string& name, std::string_view content) const {
    const std::string path = (path_ / name).string();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace lapse::test
