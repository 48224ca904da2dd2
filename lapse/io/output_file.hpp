// Files that appear under their names when they are complete.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse::io {

// Until close() has succeeded the file is called <path>.tmp, which the destructor removes. Every call may
// throw FileError with the reason of the operating system. Used by one thread.
class LAPSE_EXPORT OutputFile {
 public:
  // Creates the file.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void close();

  const std::string& path() const { return path_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::string temporary_path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
};

}  // namespace lapse::io
