// Files that appear under their names only when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse::io {

// Until close() has succeeded the file is called <path>.tmp, which the destructor removes. Every call may
// throw FileError with the operating system's reason. Used by one thread.
class LAPSE_EXPORT OutputFile {
 public:
  // Creates the file and reserves `bytes` bytes, so that a full disk is noticed now. `bytes` may be slightly
  // more or less than the final size; 0: unknown. A folder of this name, which would be noticed only at the
  // end, is an error, too.
  explicit OutputFile(std::string path, std::uint64_t bytes = 0);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void close();

  const std::string& path() const { return path_; }

 private:
  void reserve(std::uint64_t bytes);

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::string temporary_path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  bool is_reserved_ = false;
};

}  // namespace lapse::io
