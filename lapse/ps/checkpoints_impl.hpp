// What is behind Checkpoints.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/folder_lock.hpp"
#include "lapse/ps/checkpoint_agreement.hpp"
#include "lapse/ps/checkpoint_files.hpp"
#include "lapse/ps/checkpoint_finder.hpp"
#include "lapse/ps/checkpoint_restorer.hpp"
#include "lapse/ps/checkpoint_save.hpp"
#include "lapse/ps/checkpoint_staging.hpp"
#include "lapse/ps/checkpoint_table.hpp"
#include "lapse/ps/checkpoints.hpp"
#include "lapse/ps/local_checkpoints.hpp"

namespace lapse {

// A rank among those of its host.
struct HostPlace {
  std::size_t first = 0;  // the first of them, among all ranks
  std::size_t index = 0;
  std::size_t ranks = 0;

  HostPlace(Rank rank, const std::vector<std::int32_t>& hosts) {
    const std::int32_t own = hosts[rank.index()];
    first = static_cast<std::size_t>(std::ranges::find(hosts, own) - hosts.begin());
    ranks = static_cast<std::size_t>(std::ranges::count(hosts, own));
    index = static_cast<std::size_t>(std::count(hosts.begin(), hosts.begin() + rank.value(), own));
  }
};

// Thread safety: that of Checkpoints.
class Checkpoints::Impl {
 public:
  Impl(ParameterServer& server, CheckpointSettings settings);

  void add(const TableHandle& table, const std::string& name);
  enum class Writing : std::uint8_t { at_once, in_background };
  void begin(std::uint64_t step, const CheckpointContent& content, Writing writing);
  void finish();
  bool staged() const { return !save_ || save_->staged(); }
  bool done() const { return !save_ || save_->done(); }
  bool has_local_folder() const { return !settings_.local_folder.empty(); }
  void release_memory() {
    if (done()) staging_.release();
  }
  LoadedCheckpoint load(const LoadRequest& request);

 private:
  bool is_first_rank() const { return server_.rank() == Rank(0); }
  struct ChosenTable {
    const CheckpointTable* table;
    TableLoad load;
  };
  // Collective. What is complete in the local folders; and its content of the application.
  std::optional<LocalCheckpoint> find_local(CheckpointAgreement& agreement, std::optional<std::uint64_t> step,
                                            std::vector<std::string>& problems) const;
  FoundCheckpoint read_local(CheckpointAgreement& agreement, const LocalCheckpoint& own,
                             FoundCheckpoint found) const;
  // Throws UsageError where the request names what there is not.
  std::vector<ChosenTable> chosen(const LoadRequest& request) const;
  // Removes the files of checkpoints that are gone.
  void remove_in_background(std::unique_ptr<CheckpointSave> save);
  // The arguments of a call, as ranks compare them.
  std::string call_text(const CheckpointFolder& folder, const std::string& step) const;
  // Waits until old files are removed, and takes the locks of the folders for this rank, unless it has them.
  void lock();
  std::optional<LocalCheckpoints> local() const;

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
  std::unique_ptr<CheckpointSave> save_;    // that is not finished
  std::jthread cleaner_;                    // removes files while the application goes on; on rank 0
};

}  // namespace lapse
