// Files and folders that must survive a crash of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace lapse {

// Writes a new file, or one process's part of a shared file, from front to end. Every call throws
// CheckpointError with the operating system's reason. Used by one thread.
class DurableFile {
 public:
  // Creates the file, or truncates an existing one.
  explicit DurableFile(std::string path);
  // Writes the part that begins at `offset`. Creates the file, or keeps the contents of an existing one.
  DurableFile(std::string path, std::uint64_t offset);
  // Closes the file without further changes.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  // Reserves space on the disk, so that a full disk is detected before anything is written.
  void reserve(std::uint64_t bytes);
  void write(std::span<const std::byte> bytes);
  // Writes the pieces one after the other.
  using Pieces = std::span<const std::span<const std::byte>>;
  void write(Pieces pieces);
  // Continues at the next multiple of `bytes`. Skipped bytes read as zeros.
  void align(std::uint64_t bytes);
  // Truncates unused reserved space, unless other processes write after it; waits until everything is on the
  // disk, and closes the file.
  void finish();

  const std::string& path() const { return path_; }
  std::uint64_t written() const { return position_ - begin_; }
  // Returns the file offset of the next byte.
  std::uint64_t position() const { return position_; }

 private:
  void begin_to_sync();

  std::string path_;
  bool whole_;  // no other process writes to the file
  int descriptor_;
  std::uint64_t begin_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t position_ = begin_;
  std::uint64_t syncing_ = begin_;  // the disk has been asked to write up to here
};

// A file for reads at any offset. Every call may throw CheckpointError. Thread safety: any thread.
class ReadableFile {
 public:
  explicit ReadableFile(std::string path);
  ~ReadableFile();
  ReadableFile(const ReadableFile&) = delete;
  ReadableFile& operator=(const ReadableFile&) = delete;

  // Fills `destination` with the bytes from `offset` on. Throws with reason truncated if the file ends
  // before.
  void read(std::uint64_t offset, std::span<std::byte> destination) const;
  std::vector<std::byte> read(std::uint64_t offset, std::uint64_t bytes) const;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t bytes_ = 0;
};

// Returns the names of a folder's entries; empty after an error.
std::vector<std::string> folder_entries(const std::string& path, std::error_code& error);
// Waits until the names of a folder's files are on the disk.
void sync_folder(const std::string& path);
// Makes a folder and its missing parents. When the call returns, their names are on the disk.
void make_folder(const std::string& path);

}  // namespace lapse
