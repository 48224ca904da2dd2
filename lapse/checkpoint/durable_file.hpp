// Files and folders that are to survive a crash of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace lapse {

// A new file, or a part of one that several processes write, written from front to end. Every call throws
// CheckpointError with the reason of the operating system. Used by one thread.
class DurableFile {
 public:
  // Creates the file, or empties the one that is there.
  explicit DurableFile(std::string path);
  // The part that begins at `offset`. Creates the file, or leaves what is there.
  DurableFile(std::string path, std::uint64_t offset);
  // Closes the file; it stays as it is.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  // Takes so many bytes of the disk, so that a full disk is found before anything is written.
  void reserve(std::uint64_t bytes);
  void write(std::span<const std::byte> bytes);
  // One behind the other.
  using Pieces = std::span<const std::span<const std::byte>>;
  void write(Pieces pieces);
  // Goes on at the next multiple of `bytes`; what is left out reads as zeros.
  void align(std::uint64_t bytes);
  // Cuts off what was reserved and not written, unless other processes write behind it; waits until the disk
  // has everything, and closes.
  void finish();

  const std::string& path() const { return path_; }
  std::uint64_t written() const { return position_ - begin_; }
  // In the file: where the next byte will be.
  std::uint64_t position() const { return position_; }

 private:
  void begin_to_sync();

  std::string path_;
  bool whole_;  // no other process writes to the file
  int descriptor_;
  std::uint64_t begin_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t position_ = begin_;
  std::uint64_t syncing_ = begin_;  // up to here the disk has been asked to write
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

// The names of what is in a folder. Empty after an error.
std::vector<std::string> folder_entries(const std::string& path, std::error_code& error);
// Waits until the disk has the names of the files in a folder.
void sync_folder(const std::string& path);
// Makes a folder and those above it that are missing; the disk has their names when the call returns.
void make_folder(const std::string& path);

}  // namespace lapse
