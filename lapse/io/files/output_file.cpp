#include "lapse/io/files/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lapse/core/file_error.hpp"

namespace lapse::io {

OutputFile::OutputFile(std::string path, std::uint64_t bytes)
    : path_(std::move(path)), temporary_path_(path_ + ".tmp") {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error))
    throw FileError(path_, "cannot be created: it is a folder, expected a file");
  file_.reset(std::fopen(temporary_path_.c_str(), "wb"));
  if (!file_) throw FileError(temporary_path_, fmt::format("cannot be created: {}", std::strerror(errno)));
  try {
    if (bytes != 0) reserve(bytes);
  } catch (const FileError&) {
    file_.reset();
    std::remove(temporary_path_.c_str());
    throw;
  }
}

void OutputFile::reserve(std::uint64_t bytes) {
  // Reserving beyond the limit would end the process by a signal.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    throw FileError(path_, fmt::format("{} bytes are to be written, and files of this process may have {}",
                                       bytes, limit.rlim_cur));
  }
  const int descriptor = ::fileno(file_.get());
  int problem = EINTR;
  while (problem == EINTR) {
    const int result = ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
    problem = result == 0 ? 0 : errno;
  }
  is_reserved_ = problem == 0;
  if (problem == ENOSPC || problem == EDQUOT || problem == EFBIG)
    throw FileError(path_, fmt::format("{} bytes cannot be reserved: {}", bytes, std::strerror(problem)));
  // Not every file system can reserve; those without a size do not report their free space.
  struct statvfs disk {};
  if (is_reserved_ || ::fstatvfs(descriptor, &disk) != 0 || disk.f_blocks == 0) return;
  const std::uint64_t room = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (bytes > room)
    throw FileError(path_,
                    fmt::format("{} bytes are to be written, and its disk has room for {}", bytes, room));
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
  // Give back what was reserved and is not needed.
  if (is_reserved_ && std::fflush(file_.get()) == 0)
    static_cast<void>(::ftruncate(::fileno(file_.get()), static_cast<off_t>(std::ftell(file_.get()))));
  if (std::fclose(file_.release()) != 0 || std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary_path_.c_str());
    throw FileError(path_, fmt::format("cannot be written: {}", std::strerror(reason)));
  }
}

}  // namespace lapse::io
