// The folder of a job's checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/manifest.hpp"
#include "lapse/checkpoint/shard_reader.hpp"

namespace lapse {

// Each checkpoint is a folder step-<number> with its files and, written last, the manifest. Every call may
// throw CheckpointError. Thread safety: used by one thread. Several processes may read a folder; the holder
// of its lock (FolderLock) writes.
//
// A checkpoint appears when its manifest is renamed, after all its files are on the disk. In the same moment
// it replaces an earlier one of the same step: file names begin with the number of their checkpoint.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string step_path(std::uint64_t step) const;
  std::string file_path(std::uint64_t step, const std::string& file) const;

  // --- writing

  // Makes the folder of the step, and the file's subfolder. Any process may call it.
  void make_step(std::uint64_t step, const std::string& file) const;
  // Removes the remains of earlier attempts in any step: files that no manifest lists. Files of the
  // checkpoint with this number, which is being saved as `step`, stay, and so does what cannot be removed.
  void remove_left_overs(std::uint64_t step, std::uint64_t checkpoint) const noexcept;
  // Waits until the name of a file of the step is on the disk.
  void sync_name(std::uint64_t step, const std::string& file) const;
  // Makes the checkpoint appear. Requires that every file in the manifest is on the disk. Files of an earlier
  // checkpoint of the step remain, unlisted. `file`: the name of the manifest.
  void commit(const Manifest& manifest, const std::string& file = std::string(Manifest::kFile)) const;
  // Removes existing files of the step, and the folder if it is empty then.
  void discard(std::uint64_t step, const std::vector<std::string>& files) const noexcept;
  // Removes a whole checkpoint, the manifest first.
  void remove(std::uint64_t step) const;
  // Removes the manifest; the files remain, unlisted.
  void withdraw(std::uint64_t step) const;

  // --- reading

  // Returns the steps that have a folder, in ascending order; none if there is no folder.
  std::vector<std::uint64_t> all_steps() const;
  // Returns the steps that have a manifest.
  std::vector<std::uint64_t> steps() const;
  // The same, newest last. A checkpoint with an unreadable manifest has no known time: it is placed after all
  // smaller steps.
  struct Saved {
    SavedAt at;
    std::optional<CheckpointError> problem = {};  // of reading the manifest
    bool healthy = true;                          // all numbers are finite, as far as is known
  };
  std::vector<Saved> saved() const;
  // Throws with reason missing if the step has none. `name`: the name of the manifest.
  Manifest manifest(std::uint64_t step, const std::string& name = std::string(Manifest::kFile)) const;
  // Returns when the newest was saved, by the readable manifests; zeros if there are none.
  SavedAt latest() const;
  // Returns Manifest::order of a checkpoint that is saved now, after one of order `last`.
  static std::uint64_t next_order(std::uint64_t last);
  // Throws if a file in the manifest is missing or too short.
  void require_files(const Manifest& manifest) const;
  ShardReader open(const Manifest& manifest, const ShardRecord& shard) const;
  std::vector<std::byte> read_blob(const Manifest& manifest, const BlobRecord& blob) const;

  // How much to read to check a checkpoint.
  enum class Check : std::uint8_t {
    structure,  // all files exist, with sizes, headers and indexes; blobs
    contents,   // every byte
  };
  void check(const Manifest& manifest, Check check) const;
  // The newest checkpoint that passes the check, except steps in `except`; and the problems of newer ones,
  // and of those that may be newer.
  struct Newest {
    std::optional<Manifest> manifest;
    std::vector<std::string> problems;
  };
  // The preference of newest(). With `healthy`, it returns one with numbers that are not finite only if no
  // other passes the check.
  enum class Prefer : std::uint8_t { healthy, newest };
  Newest newest(Check check, std::span<const std::uint64_t> except = {},
                Prefer prefer = Prefer::healthy) const;

 private:
  enum class Empty : std::uint8_t { stays, goes };
  void try_to_remove_left_overs(std::uint64_t step, std::uint64_t checkpoint) const;
  // Cleans one step. Names that begin with `kept` stay, and empty folders may.
  void remove_left_overs(std::uint64_t step, const std::string& kept, Empty empty) const;
  // Removes empty subfolders of files, then the step's folder if it is empty.
  void remove_empty(std::uint64_t step) const noexcept;
  // Returns the files of this library except manifests, named as in manifests.
  std::vector<std::string> own_files(std::uint64_t step) const;

  std::string path_;
};

}  // namespace lapse
