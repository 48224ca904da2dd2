// Files that are read now and then, of which few are open at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

// Keeps the last files open that were asked for: a checkpoint of many ranks may have more files than a
// process may open. Used by one thread.
class ReadableFiles {
 public:
  static constexpr std::size_t kMaxOpen = 8;

  // Throws CheckpointError.
  std::shared_ptr<const ReadableFile> open(const std::string& path);

 private:
  std::deque<std::shared_ptr<const ReadableFile>> files_;  // the one that was asked for first is the first
};

}  // namespace lapse
