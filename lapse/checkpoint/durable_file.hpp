// Files and folders that are to survive a crash of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lapse {

// A new file, written from front to end. Every call throws CheckpointError with the reason of the operating
// system. Used by one thread.
class DurableFile {
 public:
  // Creates the file, or empties the one that is there.
  explicit DurableFile(std::string path);
  // Closes the file; it stays as it is.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  // Takes so many bytes of the disk, so that a full disk is found before anything is written.
  void reserve(std::uint64_t bytes);
  void write(std::span<const std::byte> bytes);
  // Cuts off what was reserved and not written, waits until the disk has everything, and closes.
  void finish();

  const std::string& path() const { return path_; }
  std::uint64_t written() const { return written_; }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t reserved_ = 0;
  std::uint64_t written_ = 0;
};

// A file that is read at any place. Every call throws CheckpointError. Thread safety: any thread.
class ReadableFile {
 public:
  explicit ReadableFile(std::string path);
  ~ReadableFile();
  ReadableFile(const ReadableFile&) = delete;
  ReadableFile& operator=(const ReadableFile&) = delete;

  // Fills `destination` with the bytes from `offset` on; throws with reason truncated where the file ends
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

// Waits until the disk has the names of the files in a folder.
void sync_folder(const std::string& path);
// Makes a folder and those above it that are missing; the disk has their names when the call returns.
void make_folder(const std::string& path);

}  // namespace lapse
