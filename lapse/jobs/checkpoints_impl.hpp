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
    std::uint64_t committed = 0;  // the order of the newest in the folder of all ranks

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& text& checkpoint& run& order& committed;
    }
  };
  Beginning beginning(std::uint64_t step, Writing writing);
  struct ChosenTable {
    const CheckpointTable* table;
    TableLoad load;
  };
  // The folder from which this rank reads a checkpoint, and its number among the folder's readers.
  struct Source {
    CheckpointFolder folder;
    Manifest manifest;  // of what this rank can read
    Rank rank;
    std::int32_t ranks = 0;
  };
  // The newest complete checkpoint in the local folders, and the problems of others.
  struct Near {
    std::optional<LocalCheckpoint> checkpoint;
    std::vector<std::string> problems;
    bool unreadable = false;  // a disk refuses to read
    WantedLocal wanted;
    std::vector<LocalCheckpoints::Listing> listings;  // by rank
  };
  // Collective.
  Near find_near(CheckpointAgreement& agreement, std::optional<std::uint64_t> step) const;
  // Returns the newest of those that are older than `failed`, which turned out not to be whole.
  static std::optional<LocalCheckpoint> older_local(const Near& near, const LocalCheckpoint& failed,
                                                    std::vector<std::string>& problems);
  // Collective. Finds a checkpoint in the folder of all ranks. Finds none only if `near` has one.
  FoundCheckpoint find(CheckpointAgreement& agreement, const CheckpointFolder& folder,
                       std::optional<std::uint64_t> step, const Near& near) const;
  // Collective. Load one checkpoint, from the hosts or from the folder of all ranks. `is_copy`: the folder of
  // all ranks has it, too.
  LoadedCheckpoint load_near(CheckpointAgreement& agreement, const LocalCheckpoint& near, bool is_copy,
                             const std::vector<ChosenTable>& loads);
  LoadedCheckpoint load_far(CheckpointAgreement& agreement, const CheckpointFolder& folder,
                            const FoundCheckpoint& found, const std::vector<ChosenTable>& loads);
  // Collective. Loads the tables of `manifest`, the manifest of the whole checkpoint.
  LoadedCheckpoint load_tables(CheckpointAgreement& agreement, const Source& source, const Manifest& manifest,
                               CheckpointBlobs blobs, const std::vector<ChosenTable>& loads);
  // Throws UsageError if the request names a table that was not added, or an empty interval of keys.
  std::vector<ChosenTable> chosen(const LoadRequest& request) const;
  // Discards what this rank has staged unless every rank has staged; then it is kept for the next job.
  void keep_staged_or_discard(CheckpointAgreement& agreement, const CheckpointSave& save);
  void join_cleaner() {
    if (cleaner_.joinable()) cleaner_.join();
  }
  // Removes useless files from the local folder, before parts are written to it. Throws CheckpointError if it
  // has parts of another run.
  void clean_local_folder(const Beginning& beginning);
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
  std::uint64_t committed_order_ = 0;       // likewise, of the newest checkpoint that exists
  std::uint64_t local_order_ = 0;           // of a checkpoint whose parts are all on the hosts
  bool local_is_own_ = false;               // no parts of another run; on the first rank of a host
  // On rank 0; see CheckpointSave::Request.
  std::optional<LaterCheckpoints> abandoned_;
  std::optional<LaterCheckpoints> doubtful_;
};

}  // namespace lapse
