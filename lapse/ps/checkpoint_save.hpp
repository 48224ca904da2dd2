// One checkpoint that is being saved, as one rank sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/ps/checkpoint_table.hpp"
#include "lapse/ps/checkpoints.hpp"

namespace lapse {

// What one rank has written; ranks exchange it.
struct SavedPart {
  std::vector<std::uint64_t> tables;  // by shard: the number of its table
  std::vector<std::string> files;
  std::vector<std::uint64_t> numbers;  // by shard: bytes, entries, first key, last key, checksum of the index
  std::vector<std::string> blobs;
  std::vector<std::uint64_t> blob_numbers;  // by blob: bytes, checksum
  std::vector<std::int64_t> clocks;

  void add(std::uint64_t table, const ShardRecord& shard);
  void add(const BlobRecord& blob);
  void append_to(Manifest& manifest) const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& tables& files& numbers& blobs& blob_numbers& clocks;
  }
};

// Writes the files of one rank, at once or in a thread of its own, and on rank 0 the manifest.
//
// Thread safety: one thread, which may ask at any time whether the other is done.
class CheckpointSave {
 public:
  struct Request {
    CheckpointFolder folder;
    std::uint64_t step = 0;
    std::uint64_t checkpoint = 0;  // its number
    Rank rank;
    std::int32_t ranks = 0;
    CheckpointContent content;
    std::optional<std::size_t> keep;
  };

  // The tables outlive the object. Throws std::bad_alloc.
  CheckpointSave(Request request, const std::vector<CheckpointTable>& tables);
  // Waits until a thread has ended.
  ~CheckpointSave();
  CheckpointSave(const CheckpointSave&) = delete;
  CheckpointSave& operator=(const CheckpointSave&) = delete;

  // Writes this rank's part.
  void write();
  // Copies this rank's part; a thread writes the copy. Throws std::bad_alloc, std::system_error.
  void write_in_background();
  bool done() const { return done_.load(std::memory_order_acquire); }

  // After write or write_in_background, for which it waits: what was written. Throws CheckpointError.
  SavedPart part();
  // Removes what this rank has written, after part().
  void discard() const noexcept;
  // Rank 0, after all ranks: makes the checkpoint appear, and removes older ones. Throws CheckpointError.
  void commit(const std::vector<SavedPart>& parts) const;

 private:
  std::string file_name(const std::string& part, const std::string& extension) const;
  void write_files();
  void remove_older() const;

  const Request request_;
  const std::vector<CheckpointTable>& tables_;
  std::vector<CheckpointTable::Part> contents_;  // by table
  std::vector<std::string> files_;
  SavedPart part_;
  std::exception_ptr failure_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace lapse
