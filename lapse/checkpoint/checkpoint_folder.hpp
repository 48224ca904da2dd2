// The folder in which a job keeps its checkpoints.
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
// throw CheckpointError. Thread safety: used by one thread; several processes may read one folder, and the
// holder of its lock (FolderLock) writes.
//
// A checkpoint appears when its manifest is renamed, after all its files are on the disk, and replaces an
// earlier one of the same step in that moment: names of files begin with the number of their checkpoint.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string step_path(std::uint64_t step) const;
  std::string file_path(std::uint64_t step, const std::string& file) const;

  // --- writing

  // Makes the folder of the step, and that of the file within it. Any process.
  void make_step(std::uint64_t step, const std::string& file) const;
  // Removes what earlier attempts have left in any step: files that no manifest lists. Those of the
  // checkpoint with this number, which is being saved as `step`, stay; and what cannot be removed.
  void remove_left_overs(std::uint64_t step, std::uint64_t checkpoint) const noexcept;
  // Waits until the disk has the name of a file of the step.
  void sync_name(std::uint64_t step, const std::string& file) const;
  // Makes the checkpoint appear. Every file that the manifest lists is on the disk. Those of an earlier
  // checkpoint of the step are left over then.
  // `file`: what the manifest is called.
  void commit(const Manifest& manifest, const std::string& file = std::string(Manifest::kFile)) const;
  // Removes files of the step, as far as they are there; and the folder, if it is empty then.
  void discard(std::uint64_t step, const std::vector<std::string>& files) const noexcept;
  // Removes a whole checkpoint, the manifest first.
  void remove(std::uint64_t step) const;
  // Removes the manifest; the files are left over then.
  void withdraw(std::uint64_t step) const;

  // --- reading

  // The steps that have a folder, in rising order; empty when there is none.
  std::vector<std::uint64_t> all_steps() const;
  // Those that have a manifest.
  std::vector<std::uint64_t> steps() const;
  // The same, the newest in the end. When one was saved whose manifest cannot be read is not known: it stands
  // behind all of smaller steps.
  struct Saved {
    SavedAt at;
    std::optional<CheckpointError> problem = {};  // of the manifest
    bool healthy = true;                          // as far as is known: all numbers are finite
  };
  std::vector<Saved> saved() const;
  // Throws with reason missing where the step has none.
  Manifest manifest(std::uint64_t step) const;
  std::string manifest_text(std::uint64_t step) const;
  // When the newest was saved, by the manifests that can be read; zeros without any.
  SavedAt latest() const;
  // The number of the folder. Where the file `lock` has none, as it is damaged, that of the newest
  // checkpoint; 0 without such a file.
  std::uint64_t run() const;
  // Manifest::order of a checkpoint that is saved now, and after that of order `last`.
  static std::uint64_t next_order(std::uint64_t last);
  // Throws where a file that the manifest lists is missing, or shorter than it must be.
  void require_files(const Manifest& manifest) const;
  ShardReader open(const Manifest& manifest, const ShardRecord& shard) const;
  std::vector<std::byte> read_blob(const Manifest& manifest, const BlobRecord& blob) const;

  // How much of a checkpoint is read to check it.
  enum class Check : std::uint8_t {
    structure,  // that all files are there, with their sizes, headers and indexes; blobs
    contents,   // every byte
  };
  void check(const Manifest& manifest, Check check) const;
  // The newest checkpoint, of no step of `except`, that passes the check; what is wrong with newer ones, and
  // with those that may be newer.
  struct Newest {
    std::optional<Manifest> manifest;
    std::vector<std::string> problems;
  };
  // Which one counts as such: with `healthy`, one with numbers that are not finite only where no other one
  // passes the check.
  enum class Prefer : std::uint8_t { healthy, newest };
  Newest newest(Check check, std::span<const std::uint64_t> except = {},
                Prefer prefer = Prefer::healthy) const;

 private:
  enum class Empty : std::uint8_t { stays, goes };
  void try_to_remove_left_overs(std::uint64_t step, std::uint64_t checkpoint) const;
  // Of one step; names that begin with `kept` stay, and empty folders may.
  void remove_left_overs(std::uint64_t step, const std::string& kept, Empty empty) const;
  // Removes folders of files that are empty, then that of the step, if nothing else is in it.
  void remove_empty(std::uint64_t step) const noexcept;
  // As they are named in manifests: what this library has written, but manifests.
  std::vector<std::string> own_files(std::uint64_t step) const;

  std::string path_;
};

}  // namespace lapse
