// Files that are read repeatedly, with few of them open at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

// Keeps the last opened files open: a checkpoint of many ranks may have more files than a process may open.
// Used by one thread.
class ReadableFiles {
 public:
  static constexpr std::size_t kMaxOpen = 8;

  // Throws CheckpointError.
  std::shared_ptr<const ReadableFile> open(const std::string& path);

 private:
  std::deque<std::shared_ptr<const ReadableFile>> files_;  // in the order of opening
};

}  // namespace lapse
