#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/jobs/checkpoint_loader.hpp"
#include "lapse/jobs/checkpoints_impl.hpp"

namespace lapse {

namespace {

// The disk cannot be read now, or the program is older than the checkpoint.
bool may_be_whole(const CheckpointError& error) {
  return error.reason() == CheckpointError::Reason::not_readable ||
         error.reason() == CheckpointError::Reason::newer_version;
}

// Returns true if all values of the step in the folder belong to the checkpoint with this number.
bool has_only(const CheckpointFolder& folder, std::uint64_t step, std::uint64_t checkpoint) {
  std::error_code error;
  std::vector<std::string> names = folder_entries(folder.step_path(step), error);
  std::erase_if(names, [](const std::string& name) { return !is_checkpoint_file(name); });
  return !names.empty() && std::ranges::all_of(names, [&](const std::string& name) {
    return name.starts_with(checkpoint_file_prefix(checkpoint));
  });
}

// Returns true if a checkpoint (of `step`, if given) whose manifest in the folder cannot be read may be whole
// and newer than this one.
bool may_have_newer(const CheckpointFolder& folder, std::optional<std::uint64_t> step,
                    const LocalCheckpoint& near) {
  return std::ranges::any_of(folder.saved(), [&](const CheckpointFolder::Saved& one) {
    if (step && one.at.step != *step) return false;
    if (!one.problem || !may_be_whole(*one.problem) || one.at.step < near.step()) return false;
    return one.at.step > near.step() || !has_only(folder, one.at.step, near.checkpoint());
  });
}

}  // namespace

LoadedCheckpoint Checkpoints::Impl::load(const LoadRequest& request) {
  const bool is_own = request.folder.empty();
  const CheckpointFolder folder = is_own ? folder_ : CheckpointFolder(request.folder);
  const std::optional<std::uint64_t> step = request.step;
  finish();
  CheckpointAgreement agreement(server_, "load_checkpoint");
  agreement.run([&] { join_cleaner(); });  // It might remove files that are found.
  std::string arguments = step ? fmt::format("step {}", *step) : "the newest step";
  if (request.is_fallback) arguments += " as a fallback";
  for (const TableLoad& one : request.tables)
    arguments += fmt::format(", table '{}' keys {} to {}{}{}", one.table, one.first_key, one.last_key,
                             one.state ? "" : " without state", one.convert ? " converted" : "");
  agreement.require_equal(call_text(folder, arguments));
  std::vector<ChosenTable> loads;
  agreement.run([&] { loads = chosen(request); });
  const Near found_near = local() && is_own ? find_near(agreement, step) : Near();
  std::optional<LocalCheckpoint> near = found_near.checkpoint;
  if (near) last_order_ = std::max(last_order_, near->saved_at().order);
  const FoundCheckpoint found = find(agreement, folder, step, found_near);
  functions_.set_label(fmt::format("{:016x}", found.call));
  std::vector<std::string> problems = found.problems;
  problems.insert(problems.end(), found_near.problems.begin(), found_near.problems.end());

  // The local checkpoint is the one in the folder of all ranks, or a newer one.
  const bool has_far = !found.manifest.empty();
  if (near && !step && settings_.expect_finite && has_far && found.healthy && !near->healthy()) {
    problems.push_back(fmt::format(
        "step {} in the local folders of these hosts has numbers that are not finite", near->step()));
    near.reset();
  }
  std::optional<LoadedCheckpoint> loaded;
  SavedAt saved_at = found.saved_at;
  try {
    while (!loaded && near && (!has_far || near->saved_at() >= found.saved_at)) {
      const bool is_copy = has_far && near->checkpoint() == found.checkpoint;
      try {
        loaded = load_near(agreement, *near, is_copy, loads);
        saved_at = near->saved_at();
        local_order_ = saved_at.order;
      } catch (const CheckpointError& error) {
        if (error.reason() == CheckpointError::Reason::mismatch) throw;
        std::vector<std::string> others{error.what()};
        // One that the disk refuses may be whole: only the one in the folder of all ranks may replace it.
        near = may_be_whole(error) ? std::nullopt : older_local(found_near, *near, others);
        if (!near && !has_far) throw;
        problems.insert(problems.end(), others.begin(), others.end());
      }
    }
    if (!loaded) loaded = load_far(agreement, folder, found, loads);
  } catch (const CheckpointError& error) {
    // Every rank has this error.
    if (error.reason() == CheckpointError::Reason::mismatch) throw;  // Another step is no more likely to fit.
    const std::uint64_t failed = has_far ? found.saved_at.step : found_near.checkpoint->step();
    const std::vector<std::string> others = agreement.exchange(
        [&]() -> std::string { return is_first_rank() ? other_checkpoint(folder, failed) : std::string(); });
    agreement.throw_everywhere(
        std::make_exception_ptr(CheckpointError(error.reason(), error.file(), error.problem() + others[0])));
  }
  loaded->problems = std::move(problems);
  if (is_own) agreement.run([&] { note_branch(request, saved_at); });
  return *std::move(loaded);
}

void Checkpoints::Impl::note_branch(const LoadRequest& request, const SavedAt& loaded) {
  abandoned_.reset();
  doubtful_.reset();
  if (!is_first_rank() || !settings_.keep) return;
  try {
    const LaterCheckpoints later{.after = loaded, .last = folder_.latest()};
    const bool goes_back = request.step && !request.is_fallback;
    (goes_back ? abandoned_ : doubtful_) = later;
  } catch (const CheckpointError&) {
    // It is not known which checkpoints are newer, so they stay.
  }
}

Checkpoints::Impl::Near Checkpoints::Impl::find_near(CheckpointAgreement& agreement,
                                                     std::optional<std::uint64_t> step) const {
  // The run is that of the folder of all ranks.
  Near near;
  near.wanted.step = step;
  near.wanted.prefers_healthy = settings_.expect_finite;
  near.wanted.latest = agreement.exchange([&] { return is_first_rank() ? folder_.latest() : SavedAt(); })[0];
  near.listings = agreement.exchange(
      [&] { return host_.index == 0 ? local()->list(folder_.run()) : LocalCheckpoints::Listing(); });
  for (const LocalCheckpoints::Listing& listing : near.listings) {
    near.problems.insert(near.problems.end(), listing.problems.begin(), listing.problems.end());
    near.problems.insert(near.problems.end(), listing.others.begin(), listing.others.end());
    near.unreadable |= listing.unreadable;
  }
  near.checkpoint = newest_local(near.listings, near.wanted, near.problems);
  return near;
}

std::optional<LocalCheckpoint> Checkpoints::Impl::older_local(const Near& near, const LocalCheckpoint& failed,
                                                              std::vector<std::string>& problems) {
  WantedLocal wanted = near.wanted;
  wanted.before = {failed.saved_at(), failed.checkpoint()};
  return newest_local(near.listings, wanted, problems);
}

FoundCheckpoint Checkpoints::Impl::find(CheckpointAgreement& agreement, const CheckpointFolder& folder,
                                        std::optional<std::uint64_t> step, const Near& near) const {
  return agreement.exchange([&] {
    FoundCheckpoint found;
    if (!is_first_rank()) return found;
    try {
      found = find_checkpoint(
          folder, step,
          settings_.expect_finite ? CheckpointFolder::Prefer::healthy : CheckpointFolder::Prefer::newest);
    } catch (const CheckpointError& error) {
      if (!near.checkpoint && near.problems.empty()) throw;
      if (!near.checkpoint) {
        // A checkpoint that a disk refuses may be whole.
        const auto reason = near.unreadable ? CheckpointError::Reason::not_readable : error.reason();
        throw CheckpointError(reason, error.file(),
                              fmt::format("{}; {}", error.problem(), fmt::join(near.problems, "; ")));
      }
      if (may_be_whole(error) && may_have_newer(folder, step, *near.checkpoint)) throw;
      found.problems.emplace_back(error.what());
    }
    found.call = new_checkpoint_number();
    return found;
  })[0];
}

LoadedCheckpoint Checkpoints::Impl::load_near(CheckpointAgreement& agreement, const LocalCheckpoint& near,
                                              bool is_copy, const std::vector<ChosenTable>& loads) {
  const CheckpointFolder folder(settings_.local_folder);
  const auto is_sparse = [](const ChosenTable& one) { return one.table->record().sparse; };
  if (!is_copy && std::ranges::any_of(loads, is_sparse)) {
    // Checks before loading: keys before a damaged block would stay, even if an older checkpoint lacks them.
    agreement.run([&] {
      if (host_.index == 0) folder.check(near.manifest(host_.first), CheckpointFolder::Check::contents);
    });
  }
  CheckpointBlobs blobs = gather_blobs(agreement, near, folder, server_.rank());
  const Source source{.folder = folder,
                      .manifest = near.manifest(host_.first),
                      .rank = Rank(static_cast<std::int32_t>(host_.index)),
                      .ranks = static_cast<std::int32_t>(host_.ranks)};
  LoadedCheckpoint loaded = load_tables(agreement, source, near.manifest(), std::move(blobs), loads);
  loaded.only_local = !is_copy;
  return loaded;
}

LoadedCheckpoint Checkpoints::Impl::load_far(CheckpointAgreement& agreement, const CheckpointFolder& folder,
                                             const FoundCheckpoint& found,
                                             const std::vector<ChosenTable>& loads) {
  Source source{.folder = folder, .manifest = {}, .rank = server_.rank(), .ranks = server_.ranks()};
  CheckpointBlobs blobs;
  agreement.run([&] {
    source.manifest = Manifest::from_text(
        found.manifest, folder.file_path(found.saved_at.step, std::string(Manifest::kFile)));
    blobs = read_blobs(folder, source.manifest);
  });
  return load_tables(agreement, source, source.manifest, std::move(blobs), loads);
}

LoadedCheckpoint Checkpoints::Impl::load_tables(CheckpointAgreement& agreement, const Source& source,
                                                const Manifest& manifest, CheckpointBlobs blobs,
                                                const std::vector<ChosenTable>& loads) {
  const std::string manifest_file = source.folder.file_path(manifest.step, std::string(Manifest::kFile));
  CheckpointLoader loader(source.folder, source.manifest, source.rank, source.ranks);
  agreement.run([&] {
    for (const auto& [table, load] : loads) {
      const TableRecord* const record = manifest.table(table->name());
      if (record == nullptr) {
        throw CheckpointError(CheckpointError::Reason::mismatch, manifest_file,
                              fmt::format("has no table '{}'", table->name()));
      }
      table->require_fit(*record, load, manifest_file);
      loader.open(*table, *source.manifest.table(table->name()), load);
    }
  });
  for (const ChosenTable& one : loads) functions_.prepare(server_, *one.table);

  // An error in the worker would end the server, so it is stored until the phase is over.
  std::exception_ptr failure;
  server_.run_workers(1, [&](Worker& worker) {
    CheckpointRestorer restorer(worker, functions_);
    try {
      loader.read(restorer);
    } catch (const PeerFailed&) {
      throw;
    } catch (...) {
      failure = std::current_exception();
      restorer.abandon();
    }
  });
  agreement.run([&] {
    if (failure) std::rethrow_exception(failure);
  });
  LoadedCheckpoint loaded;
  loaded.step = manifest.step;
  loaded.ranks = static_cast<std::int32_t>(manifest.ranks);
  loaded.global = std::move(blobs.global);
  loaded.per_worker = std::move(blobs.per_worker);
  for (const std::int64_t clock : manifest.clocks) loaded.clocks.emplace_back(clock);
  loaded.not_finite = manifest.not_finite();
  loaded.bytes_read = loader.bytes_read();
  return loaded;
}

std::vector<Checkpoints::Impl::ChosenTable> Checkpoints::Impl::chosen(const LoadRequest& request) const {
  std::vector<ChosenTable> loads;
  for (const TableLoad& load : request.tables) {
    const auto table = std::ranges::find(tables_, load.table, &CheckpointTable::name);
    if (table == tables_.end()) throw UsageError(fmt::format("no table '{}' was added", load.table));
    if (load.first_key > load.last_key) {
      throw UsageError(
          fmt::format("keys {} to {} of table '{}' cannot be loaded: the first is behind the last",
                      load.first_key, load.last_key, load.table));
    }
    loads.push_back({&*table, load});
  }
  if (request.tables.empty())
    for (const CheckpointTable& table : tables_) loads.push_back({&table, {.table = table.name()}});
  return loads;
}

}  // namespace lapse
