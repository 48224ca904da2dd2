// Checkpoints of the tables of a server, which a job with another number of ranks can load.
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

// The settings of checkpoints, equal on all ranks.
struct CheckpointSettings {
  std::string folder;             // the same path on all ranks; the first save makes it
  std::string local_folder = {};  // on each host's own disk or memory, written first; empty: none
  // The number of newest checkpoints to keep; nullopt: all.
  std::optional<std::size_t> keep = {};
  // Infinite numbers and NaNs in values or states indicate a failed training: `keep` removes no checkpoint
  // without them in favour of one with them, and a load without a step prefers one without them. If false,
  // such numbers are legitimate in these tables, and all checkpoints are equal.
  bool expect_finite = true;
};

// The application's part of a checkpoint, on each rank.
struct CheckpointContent {
  std::string global = {};                   // of rank 0; empty: none
  std::vector<std::string> per_worker = {};  // one for each worker of this rank, or none
  std::vector<Clock> clocks = {};            // likewise
};

// A loaded checkpoint, equal on all ranks. Their number may differ from that at the save.
struct LoadedCheckpoint {
  std::uint64_t step = 0;
  std::int32_t ranks = 0;  // that saved it
  std::string global;
  std::vector<std::string> per_worker;  // of all workers at the save, in their order
  std::vector<Clock> clocks;
  // Newer checkpoints that are broken or unreadable, each with the reason, and those that may be newer.
  std::vector<std::string> problems;
  bool only_local = false;       // not in the folder of all ranks
  std::uint64_t not_finite = 0;  // infinite numbers and NaNs in all its tables, if known
  std::uint64_t bytes_read = 0;  // by this rank, from shards
};

// The part of one table to load. A mismatch that is not allowed here is an error that names it.
struct TableLoad {
  std::string table;            // its name in the checkpoint, of an added table
  std::uint64_t first_key = 0;  // up to last_key, both inclusive
  std::uint64_t last_key = UINT64_MAX;
  // If false, initializes the state of the update rule, as set does; the rule may differ from the saved one.
  bool state = true;
  // Allows conversions between float and double, and between int32 and int64, of values and state. A value
  // out of range is an error that names its key.
  bool convert = false;
};

// A request to load.
struct LoadRequest {
  std::optional<std::uint64_t> step = {};  // nullopt: the newest whole checkpoint, see expect_finite
  std::string folder = {};                 // with checkpoints of another job; empty: that of the settings
  std::vector<TableLoad> tables = {};      // empty: all added tables, whole
  // Tables may have more keys than were saved: those behind the saved ones stay as they are.
  bool grow = false;
  // With a step: newer checkpoints could not be loaded, and stay like any others. If false, they belong to an
  // abandoned branch, and with `keep` the next checkpoint replaces them.
  bool is_fallback = false;
};

// One object on each rank for one folder. Calls are made between phases, when everything is synced. A
// checkpoint contains each key's main copy once, with the state of the update rule; keys may be anywhere and
// have replicas. For users: docs/checkpoints.md; file format: docs/checkpoint-format.md.
//
// If a rank fails (a full disk, a damaged file), every rank throws the same: CheckpointError with the file
// and the reason, UsageError or CollectiveMismatch if calls differ, OutOfMemory. The server remains usable.
//
// Thread safety: like the server.
class LAPSE_EXPORT Checkpoints {
 public:
  // The server outlives the object. Reads and writes nothing before the first call. Throws UsageError for
  // invalid settings.
  Checkpoints(ParameterServer& server, CheckpointSettings settings);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Adds a table of the server to save and load, under this name. Every rank makes the same calls. Throws
  // UsageError if the name was added before, and between save_async and finish.
  template <Element T>
  void add(const Table<T>& table, const std::string& name) {
    add(table.handle(), name);
  }
  template <Element T>
  void add(const Table<T>& table) {
    add(table.handle(), table.name());
  }

  // Collective. Writes the checkpoint step-<step> into the folder of the settings. When the call returns, the
  // checkpoint is on the disk; until then it does not exist, but an earlier one of this step does. The first
  // call locks the folder for other jobs, until the object is destroyed. With a local folder, the call
  // returns when the checkpoint is there on the hosts, and a thread copies it, like after save_async.
  void save(std::uint64_t step, const CheckpointContent& content = {});

  // Collective. Like save, but returns when this rank has copied its values and states to memory; a thread
  // writes them while the application continues. The checkpoint exists once finish() has returned. Throws
  // OutOfMemory if the copy does not fit on a rank; its memory is kept for the next copy.
  void save_async(std::uint64_t step, const CheckpointContent& content = {});
  // Not collective. Returns true if this rank's part of the last checkpoint is on a disk: that of the local
  // folder, if there is one. Once every rank's part is, the next job can load the checkpoint even if this one
  // ends now.
  bool staged() const;
  // Not collective. Returns true if finish() will not wait for the disk of this rank; also after an error,
  // and if there is nothing to finish.
  bool done() const;
  // Collective. Waits for the last save_async and makes the checkpoint appear; throws what save would throw.
  // Does nothing if there is nothing to finish. The next save, save_async and load call it, too. Without it
  // the checkpoint never exists.
  void finish();

  // Not collective. Returns the memory of the last copy to the system, unless it is still being written.
  void release_memory();

  // Collective. Replaces values and states of all keys in the checkpoint, of the added tables or of the
  // requested part; the checkpoint must contain all of these tables. Element type, keys, lengths and the name
  // of the update rule must match, unless the request says otherwise; parameters of the rule, initialiser,
  // homes and domains need not. Other keys stay as they are. If a block is damaged or a value cannot be
  // converted, the tables are partly loaded: load another checkpoint, or end.
  LoadedCheckpoint load(const LoadRequest& request = {});

 private:
  class LAPSE_HIDDEN Impl;

  void add(const TableHandle& table, const std::string& name);

  std::unique_ptr<Impl> impl_;
};

}  // namespace lapse
