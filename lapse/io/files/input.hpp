// An input of readers: a path, or bytes received from another rank under the name of a path.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lapse/io/files/byte_source.hpp"

namespace lapse::io {

// Functions that take an input also take a path, which the process then opens itself. Any number of threads
// may use an Input.
class Input {
 public:
  using Open = std::function<std::unique_ptr<ByteSource>()>;

  // A file, a pipe or, if the path is "-", standard input.
  Input(std::string path) : path_(std::move(path)) {}
  Input(const char* path) : path_(path) {}
  // The bytes of a source. The path is only for error messages.
  Input(std::string path, Open open) : path_(std::move(path)), open_(std::move(open)) {}

  const std::string& path() const { return path_; }
  // Whether the bytes come from a source, which has no positions and cannot be divided into parts.
  bool has_source() const { return open_ != nullptr; }
  std::unique_ptr<ByteSource> open_source() const { return open_(); }

 private:
  std::string path_;
  Open open_;  // empty: the process opens the path
};

}  // namespace lapse::io
