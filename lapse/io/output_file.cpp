#include "lapse/io/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lapse/core/file_error.hpp"

namespace lapse::io {

OutputFile::OutputFile(std::string path) : path_(std::move(path)), temporary_path_(path_ + ".tmp") {
  file_.reset(std::fopen(temporary_path_.c_str(), "wb"));
  if (!file_) throw FileError(temporary_path_, fmt::format("cannot be created: {}", std::strerror(errno)));
}

OutputFile::~OutputFile() {
  if (!file_) return;
  file_.reset();
  std::remove(temporary_path_.c_str());
}

void OutputFile::write(const void* data, std::size_t bytes) {
  if (bytes != 0 && std::fwrite(data, 1, bytes, file_.get()) != bytes) {
    throw FileError(temporary_path_, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
}

void OutputFile::close() {
  if (std::fclose(file_.release()) != 0 || std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary_path_.c_str());
    throw FileError(path_, fmt::format("cannot be written: {}", std::strerror(reason)));
  }
}

}  // namespace lapse::io
