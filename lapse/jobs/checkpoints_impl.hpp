// The implementation of Checkpoints.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/folder_lock.hpp"
#include "lapse/core/log.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"
#include "lapse/jobs/checkpoint_blobs.hpp"
#include "lapse/jobs/checkpoint_files.hpp"
#include "lapse/jobs/checkpoint_finder.hpp"
#include "lapse/jobs/checkpoint_restorer.hpp"
#include "lapse/jobs/checkpoint_save.hpp"
#include "lapse/jobs/checkpoint_staging.hpp"
#include "lapse/jobs/checkpoint_table.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/jobs/local_checkpoints.hpp"

namespace lapse {

// The position of a rank on its host.
struct HostPlace {
  std::size_t first = 0;  // the host's first rank
  std::size_t index = 0;
  std::size_t ranks = 0;

  HostPlace(Rank rank, const std::vector<std::int32_t>& hosts) {
    const std::int32_t own = hosts[rank.index()];
    first = static_cast<std::size_t>(std::ranges::find(hosts, own) - hosts.begin());
    ranks = static_cast<std::size_t>(std::ranges::count(hosts, own));
    index = static_cast<std::size_t>(std::count(hosts.begin(), hosts.begin() + rank.value(), own));
  }
};

// Thread safety: like Checkpoints.
class Checkpoints::Impl {
 public:
  Impl(ParameterServer& server, CheckpointSettings settings);

  bool is_left() const { return process_.is_left(); }
  // Throws UsageError in a child that fork has made.
  void check(std::string_view call) const;
  void add(const TableHandle& table, const std::string& name);
  enum class Writing : std::uint8_t { at_once, in_background };
  void begin(std::uint64_t step, const CheckpointContent& content, Writing writing);
  void finish();
  bool staged() const { return !save_ || save_->staged(); }
  // Warns if the last checkpoint is not finished.
  void report_unfinished() const noexcept;
  bool done() const { return !save_ || save_->done(); }
  bool has_local_folder() const { return !settings_.local_folder.empty(); }
  void release_memory() {
    if (done()) staging_.release();
  }
  LoadedCheckpoint load(const LoadRequest& request);

 private:
  bool is_first_rank() const { return server_.rank() == Rank(0); }
  // The facts that ranks agree on when a checkpoint begins.
  struct Beginning {
    std::string text;  // the arguments
    std::uint64_t checkpoint = 0;
    std::uint64_t run = 0;
    std::uint64_t order = 0;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& text& checkpoint& run& order;
    }
  };
  Beginning beginning(std::uint64_t step, Writing writing);
  struct ChosenTable {
    const CheckpointTable* table;
    TableLoad load;
    bool grow = false;  // LoadRequest
  };
  // The folder from which this rank reads a checkpoint, and its number among the folder's readers.
  struct Source {
    CheckpointFolder folder;
    Manifest manifest;  // of what this rank can read
    Rank rank;
    std::int32_t ranks = 0;
  };
  // The complete checkpoints in the local folders, newest first, and the problems of others.
  struct Near {
    std::vector<LocalCheckpoint> checkpoints;
    std::vector<IncompleteCheckpoint> incomplete;
    std::vector<std::string> problems;

    // All of them, except incomplete checkpoints that are no newer than the loaded one.
    std::vector<std::string> problems_after(const SavedAt& loaded) const;
  };
  // Collective.
  Near find_near(CheckpointAgreement& agreement, std::optional<std::uint64_t> step) const;
  // Collective. Finds a checkpoint in the folder of all ranks. Finds none only if `near` has one.
  FoundCheckpoint find(CheckpointAgreement& agreement, const CheckpointFolder& folder,
                       std::optional<std::uint64_t> step, const Near& near) const;
  // Returns the local checkpoint to load; nullptr: load the one in the folder of all ranks. Adds to
  // `near.problems`.
  const LocalCheckpoint* choose(Near& near, const FoundCheckpoint& found, bool prefers_healthy) const;
  // Collective. Load one checkpoint, from the hosts or from the folder of all ranks.
  LoadedCheckpoint load_near(CheckpointAgreement& agreement, const LocalCheckpoint& near,
                             const std::vector<ChosenTable>& loads);
  LoadedCheckpoint load_far(CheckpointAgreement& agreement, const CheckpointFolder& folder,
                            const FoundCheckpoint& found, const std::vector<ChosenTable>& loads);
  // Collective. Loads the tables of `manifest`, the manifest of the whole checkpoint.
  LoadedCheckpoint load_tables(CheckpointAgreement& agreement, const Source& source, const Manifest& manifest,
                               CheckpointBlobs blobs, const std::vector<ChosenTable>& loads);
  // Throws UsageError if the request names a table that was not added, or an empty interval of keys.
  std::vector<ChosenTable> chosen(const LoadRequest& request) const;
  // Collective. Waits until this rank's part is staged. Returns true if every rank's is.
  static bool wait_until_staged(CheckpointAgreement& agreement, const CheckpointSave& save);
  void join_cleaner() {
    if (cleaner_.joinable()) cleaner_.join();
  }
  // Before parts are written to the local folder: removes useless files. Throws CheckpointError if it has
  // parts of another run.
  void prepare_local_folder(std::uint64_t run) const;
  // After a load: records which checkpoints belong to an abandoned branch, or could not be loaded.
  void note_branch(const LoadRequest& request, const SavedAt& loaded);
  // Removes the files of removed checkpoints.
  void remove_in_background(std::unique_ptr<CheckpointSave> save);
  // The arguments of a call, in a form that ranks compare.
  std::string call_text(const CheckpointFolder& folder, const std::string& step) const;
  // Waits until old files are removed, and takes this rank's locks of folders, unless it has them; again if a
  // folder was removed or replaced since.
  void lock();
  void renew(FolderLock& lock, const std::string& folder);
  Logger log() const;
  std::optional<LocalCheckpoints> local() const;

  const OwnProcess process_;
  ParameterServer& server_;
  const CheckpointSettings settings_;
  const CheckpointFolder folder_;
  std::vector<CheckpointTable> tables_;
  RestoreFunctions functions_;
  const CheckpointFileMap files_;
  const HostPlace host_;
  CheckpointStaging staging_;
  std::unique_ptr<FolderLock> lock_;        // on rank 0
  std::unique_ptr<FolderLock> local_lock_;  // on the first rank of each host
  std::unique_ptr<CheckpointSave> save_;    // not finished yet
  std::jthread cleaner_;                    // removes files while the application continues; on rank 0
  std::uint64_t last_order_ = 0;            // Manifest::order; on rank 0, once it has the lock
  // On rank 0; see CheckpointSave::Request.
  std::optional<LaterCheckpoints> abandoned_;
  std::optional<LaterCheckpoints> doubtful_;
};

}  // namespace lapse
