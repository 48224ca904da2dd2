// Checkpoints of the tables of a server, which a job of another size may load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/table.hpp"

namespace lapse {

// Where checkpoints are kept, equal on all ranks.
struct CheckpointSettings {
  std::string folder;             // all ranks see it under this path; the first save makes it
  std::string local_folder = {};  // on each host's own disk or memory, written first; empty: none
  // How many checkpoints stay at most, the newest; nothing: all.
  std::optional<std::size_t> keep = {};
  // Numbers that are infinite or not a number, in values or states, are signs of a training that has failed:
  // `keep` removes no checkpoint without them for one with them, and a load without a step prefers those
  // without. false: they mean something in these tables, and all checkpoints are equal.
  bool expect_finite = true;
};

// What an application adds to a checkpoint, on each rank.
struct CheckpointContent {
  std::string global = {};                   // of rank 0; empty: none
  std::vector<std::string> per_worker = {};  // one for each worker of this rank, or none
  std::vector<Clock> clocks = {};            // likewise
};

// What an application gets back, equal on all ranks, which may be others than those that saved.
struct LoadedCheckpoint {
  std::uint64_t step = 0;
  std::int32_t ranks = 0;  // that saved
  std::string global;
  std::vector<std::string> per_worker;  // of all workers that there were, in their order
  std::vector<Clock> clocks;
  // Newer checkpoints that are broken or cannot be read, each with the reason, and those that may be newer.
  std::vector<std::string> problems;
  bool only_local = false;       // the folder of all ranks does not have it
  std::uint64_t not_finite = 0;  // numbers of all its tables that are infinite or not a number, if known
  std::uint64_t bytes_read = 0;  // by this rank, of shards
};

// What is loaded of one table. What does not fit, and is not asked for here, is an error that says so.
struct TableLoad {
  std::string table;            // its name in the checkpoint, one of those that were added
  std::uint64_t first_key = 0;  // up to last_key, both included
  std::uint64_t last_key = UINT64_MAX;
  // false: the state of the update rule begins as that of a value that was set; the rule may be another one.
  bool state = true;
  // Elements of float may become double, int32 int64, and the other way; a value that has no such element is
  // an error that names its key. The state is converted likewise.
  bool convert = false;
};

// What is loaded.
struct LoadRequest {
  std::optional<std::uint64_t> step = {};  // nothing: the newest whole checkpoint, see expect_finite
  std::string folder = {};                 // with checkpoints of another job; empty: that of the settings
  std::vector<TableLoad> tables = {};      // empty: all that were added, whole
  // With a step: newer checkpoints could not be loaded. They stay as others do; else they are a branch that
  // is abandoned, and with `keep` the next checkpoint replaces them.
  bool is_fallback = false;
};

// One object on each rank, for one folder. Calls are made between those of run_workers, when everything is
// synced: what is saved is each key's main copy with the state of the update rule, once. Keys may be anywhere
// and have copies. docs/checkpoints.md is the page for users, docs/checkpoint-format.md that of the files.
//
// Where a rank fails (a full disk, a damaged file), every rank throws the same: CheckpointError with the file
// and the reason; UsageError or CollectiveMismatch for calls that differ; OutOfMemory. The server is as
// usable as before.
//
// Thread safety: that of the server.
class LAPSE_EXPORT Checkpoints {
 public:
  // The server outlives the object. Nothing is read or written before the first call. Throws UsageError for
  // settings that mean nothing.
  Checkpoints(ParameterServer& server, CheckpointSettings settings);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // A table of the server that is saved and loaded, under this name; the same calls on every rank. Throws
  // UsageError for a name that was given before, and between save_async and finish.
  template <Element T>
  void add(const Table<T>& table, const std::string& name) {
    add(table.handle(), name);
  }
  template <Element T>
  void add(const Table<T>& table) {
    add(table.handle(), table.name());
  }

  // Collective. Writes the checkpoint step-<step> into the folder of the settings. When the call returns, the
  // disk has the checkpoint; until then, it does not exist, and an earlier one of this step does. From the
  // first call on the folder is locked for other jobs, until the object is destroyed. With a local folder,
  // the call returns when the hosts have the checkpoint there, and a thread copies it, as in save_async.
  void save(std::uint64_t step, const CheckpointContent& content = {});

  // Collective. As save, but returns when this rank has copied its values and states to memory, and a thread
  // writes them while the application goes on. The checkpoint exists when finish() has returned. OutOfMemory
  // where a rank has no room for the copy; its memory is kept for the next one.
  void save_async(std::uint64_t step, const CheckpointContent& content = {});
  // Not collective: whether this rank's part of the last checkpoint is on a disk: that of the local folder,
  // if there is one. When every rank's is there, a job that ends now has this checkpoint for the next one.
  bool staged() const;
  // Not collective: whether finish() will not wait for the disk of this rank. True also after an error, and
  // where there is nothing to finish.
  bool done() const;
  // Collective. Waits for what save_async has begun, and makes the checkpoint appear; throws what save would.
  // Does nothing where there is nothing to finish. Called by the next save, save_async and load, too. Without
  // it the checkpoint never exists.
  void finish();

  // Not collective. Gives the memory of the last copy back to the system, unless it is still being written.
  void release_memory();

  // Collective. Replaces values and states of all keys that the checkpoint has of the tables that were added,
  // or of what is asked for; it must have all of these tables. Element type, keys, lengths and the name of
  // the update rule must be those that were saved, unless the request says otherwise; parameters of the rule,
  // initialiser, homes and domains need not. Other keys stay as they are. When a block turns out to be
  // damaged, or a value cannot be converted, the tables are partly loaded: load another checkpoint, or end.
  LoadedCheckpoint load(const LoadRequest& request = {});

 private:
  class LAPSE_HIDDEN Impl;

  void add(const TableHandle& table, const std::string& name);

  std::unique_ptr<Impl> impl_;
};

}  // namespace lapse
