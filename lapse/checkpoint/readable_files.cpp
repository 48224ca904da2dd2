#include "lapse/checkpoint/readable_files.hpp"

namespace lapse {

std::shared_ptr<const ReadableFile> ReadableFiles::open(const std::string& path) {
  for (const std::shared_ptr<const ReadableFile>& file : files_)
    if (file->path() == path) return file;
  if (files_.size() == kMaxOpen) files_.pop_front();
  return files_.emplace_back(std::make_shared<const ReadableFile>(path));
}

}  // namespace lapse
