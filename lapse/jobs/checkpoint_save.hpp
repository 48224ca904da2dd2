// One checkpoint that is being saved, on one rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/jobs/checkpoint_staging.hpp"
#include "lapse/jobs/checkpoint_table.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/jobs/local_checkpoints.hpp"
#include "lapse/jobs/saved_part.hpp"
#include "lapse/jobs/saved_rows.hpp"

namespace lapse {

// Checkpoints that were saved after the one that a job has loaded, up to the last one at that time.
struct LaterCheckpoints {
  SavedAt after;
  SavedAt last;

  bool has(const SavedAt& one) const { return one > after && one <= last; }
};

// Writes one rank's part of a file, at once or in a thread of its own, and on rank 0 the manifest.
//
// Thread safety: one thread, which may ask at any time whether the other thread is done.
class CheckpointSave {
 public:
  struct Request {
    CheckpointFolder folder;
    std::uint64_t step = 0;
    std::uint64_t checkpoint = 0;  // its number
    std::uint64_t run = 0;         // as in the manifest
    std::uint64_t order = 0;       // likewise
    Rank rank;
    std::int32_t ranks = 0;
    CheckpointContent content;
    std::optional<std::size_t> keep;
    bool expect_finite = true;                       // see CheckpointSettings
    std::optional<LocalCheckpoints> local;           // written first
    bool first_of_host = false;                      // of the ranks of this host
    std::optional<LaterCheckpoints> abandoned = {};  // a branch that the job has abandoned
    std::optional<LaterCheckpoints> doubtful = {};   // could not be loaded: they do not count for `keep`
  };
  // The place to which this rank writes.
  struct Place {
    std::uint64_t file = 0;
    std::uint64_t files = 0;  // of all ranks
    std::uint64_t offset = 0;
  };

  // Collects what this rank saves, and copies it to `staging`, unless that is null. The tables and the
  // staging outlive the object. Throws std::bad_alloc, OutOfMemory.
  CheckpointSave(Request request, const std::vector<CheckpointTable>& tables, CheckpointStaging* staging);
  // Waits for the end of a thread.
  ~CheckpointSave();
  CheckpointSave(const CheckpointSave&) = delete;
  CheckpointSave& operator=(const CheckpointSave&) = delete;

  // Bytes of this rank's part.
  std::uint64_t bytes() const { return bytes_; }
  // Writes this rank's part: to the local folder, if there is one, and then to the folder of all ranks. If
  // that fails, part() throws.
  void write(const Place& place);
  // The same in a thread.
  void write_in_background(const Place& place);
  bool staged() const { return staged_.load(std::memory_order_acquire); }
  // Waits until this rank's part is written where it is written first. Returns false if that failed.
  bool wait_until_staged() const {
    staged_.wait(false, std::memory_order_acquire);
    return staged_well_;
  }
  bool done() const { return done_.load(std::memory_order_acquire); }

  // Waits for the thread and returns what was written. Throws CheckpointError.
  SavedPart part();
  // After part(): removes what this rank has written to the folder of all ranks.
  void discard() const noexcept;
  // After wait_until_staged: whether this rank's part is healthy, as far as that is asked for.
  bool healthy() const { return healthy_; }
  // After part(), with a local folder: removes this rank's part, unless all ranks have written theirs. Then
  // this checkpoint alone stays there, unless it is not healthy.
  void keep_or_discard_local(bool staged_everywhere, bool healthy_everywhere) noexcept;
  // Rank 0, after a failed commit: removes what all ranks have written, unless the checkpoint appears.
  void discard(const std::vector<SavedPart>& parts) const noexcept;
  // Rank 0, after all ranks: makes the checkpoint appear, and surplus ones disappear. Returns warnings: of
  // numbers that are not finite, of surplus checkpoints that were not whole, and of what cannot be removed.
  // Throws CheckpointError.
  std::vector<std::string> commit(const std::vector<SavedPart>& parts) const;
  // After commit, any thread: removes the files of surplus checkpoints, and everything from the local
  // folder. Large files take long.
  void remove_left_overs() const noexcept;

 private:
  bool is_first_rank() const { return request_.rank == Rank(0); }
  // The application's bytes, in the order in which they are written.
  std::vector<std::span<const std::byte>> blobs() const;
  bool has_bytes() const;
  // Makes a step and stores its failure; does nothing after a failure.
  void attempt(void (CheckpointSave::*f)());
  void end_staging();
  void set_names();
  ShardHeader header(std::size_t table) const;
  // Returns true if the checkpoint of another step can be read, judging by its manifest and file sizes.
  bool has_files(std::uint64_t other) const;
  void prepare_folder();
  void write_directly();
  void write_local();
  void copy_from_local();
  void write_part(DurableFile& file);
  Manifest empty_manifest() const;
  std::vector<std::string> withdraw_others(bool healthy) const noexcept;

  const Request request_;
  const std::vector<CheckpointTable>& tables_;
  std::vector<TableRecord> records_;  // by table: a thread must not use the tables
  std::vector<SavedRows> rows_;       // likewise
  std::uint64_t bytes_ = 0;
  Place place_;
  std::string name_;  // of the file, in the folder of the step
  SavedPart part_;
  std::exception_ptr failure_;
  bool staged_well_ = false;
  bool healthy_ = true;
  bool replaces_local_ = false;  // others in the local folder go when this one is complete
  std::atomic<bool> staged_{false};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace lapse
