#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/jobs/checkpoint_loader.hpp"
#include "lapse/jobs/checkpoints_impl.hpp"

namespace lapse {

LoadedCheckpoint Checkpoints::Impl::load(const LoadRequest& request) {
  const bool is_own = request.folder.empty();
  const CheckpointFolder folder = is_own ? folder_ : CheckpointFolder(request.folder);
  const std::optional<std::uint64_t> step = request.step;
  finish();
  CheckpointAgreement agreement(server_, "load_checkpoint");
  agreement.run([&] { join_cleaner(); });  // It might remove files that are found.
  std::string arguments = step ? fmt::format("step {}", *step) : "the newest step";
  if (request.is_fallback) arguments += " as a fallback";
  if (request.grow) arguments += " into tables that may have grown";
  for (const TableLoad& one : request.tables)
    arguments += fmt::format(", table '{}' keys {} to {}{}{}", one.table, one.first_key, one.last_key,
                             one.state ? "" : " without state", one.convert ? " converted" : "");
  agreement.require_equal(call_text(folder, arguments));
  std::vector<ChosenTable> loads;
  agreement.run([&] { loads = chosen(request); });
  Near near = local() && is_own ? find_near(agreement, step) : Near();
  const FoundCheckpoint found = find(agreement, folder, step, near);
  functions_.set_label(fmt::format("{:016x}", found.call));
  const LocalCheckpoint* const chosen_near = choose(near, found, !step && settings_.expect_finite);
  const SavedAt saved_at = chosen_near != nullptr ? chosen_near->saved_at() : found.saved_at;
  // Also of one that is not chosen, because it is not healthy.
  if (!near.checkpoints.empty())
    last_order_ = std::max(last_order_, near.checkpoints.front().saved_at().order);
  std::vector<std::string> problems = found.problems;
  std::ranges::move(near.problems_after(saved_at), std::back_inserter(problems));
  LoadedCheckpoint loaded;
  try {
    loaded = chosen_near != nullptr ? load_near(agreement, *chosen_near, loads)
                                    : load_far(agreement, folder, found, loads);
  } catch (const CheckpointError& error) {
    // Every rank has this error.
    if (error.reason() == CheckpointError::Reason::mismatch) throw;  // Another step is no more likely to fit.
    const std::vector<std::string> others = agreement.exchange([&]() -> std::string {
      return is_first_rank() ? other_checkpoint(folder, saved_at.step) : std::string();
    });
    agreement.throw_everywhere(
        std::make_exception_ptr(CheckpointError(error.reason(), error.file(), error.problem() + others[0])));
  }
  loaded.problems = std::move(problems);
  if (is_own) agreement.run([&] { note_branch(request, saved_at); });
  return loaded;
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
  const std::uint64_t run = agreement.exchange(
      [&] { return is_first_rank() ? folder_number(folder_.path()).value_or(0) : std::uint64_t{0}; })[0];
  const std::vector<LocalCheckpoints::Listing> listings = agreement.exchange(
      [&] { return host_.index == 0 ? local()->list(run, folder_.path()) : LocalCheckpoints::Listing(); });
  Near near;
  for (const LocalCheckpoints::Listing& listing : listings)
    near.problems.insert(near.problems.end(), listing.problems.begin(), listing.problems.end());
  near.checkpoints = complete_checkpoints(listings, step, near.incomplete);
  return near;
}

std::vector<std::string> Checkpoints::Impl::Near::problems_after(const SavedAt& loaded) const {
  std::vector<std::string> all = problems;
  for (const IncompleteCheckpoint& one : incomplete)
    if (one.saved_at > loaded) all.push_back(one.problem);
  return all;
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
      const bool has_near = !near.checkpoints.empty();
      const std::vector<std::string> problems = near.problems_after(SavedAt());
      if (may_be_whole(error) || (!has_near && problems.empty())) throw;
      if (!has_near)
        throw CheckpointError(error.reason(), error.file(),
                              fmt::format("{}; {}", error.problem(), fmt::join(problems, "; ")));
      found.problems.emplace_back(error.what());
    }
    found.call = new_checkpoint_number();
    return found;
  })[0];
}

const LocalCheckpoint* Checkpoints::Impl::choose(Near& near, const FoundCheckpoint& found,
                                                 bool prefers_healthy) const {
  const bool has_far = !found.manifest.empty();
  const LocalCheckpoint* chosen = nullptr;
  const LocalCheckpoint* ill = nullptr;  // the newest that is not healthy
  for (const LocalCheckpoint& one : near.checkpoints) {
    // The one in the folder of all ranks is newer, or the same.
    if (chosen != nullptr || (has_far && one.saved_at() <= found.saved_at)) break;
    if (!prefers_healthy || one.healthy()) {
      chosen = &one;
    } else if (ill == nullptr) {
      ill = &one;
    }
  }
  if (ill == nullptr) return chosen;
  if (chosen == nullptr && (!has_far || !found.healthy)) return ill;
  near.problems.push_back(fmt::format(
      "step {} in the local folders of these hosts has numbers that are not finite", ill->step()));
  return chosen;
}

LoadedCheckpoint Checkpoints::Impl::load_near(CheckpointAgreement& agreement, const LocalCheckpoint& near,
                                              const std::vector<ChosenTable>& loads) {
  const CheckpointFolder folder(settings_.local_folder);
  if (std::ranges::any_of(loads, [](const ChosenTable& one) { return one.table->record().sparse; })) {
    // Otherwise keys before a damaged block would stay when another checkpoint, without them, is loaded next.
    agreement.run([&] {
      if (host_.index == 0) folder.check(near.manifest(host_.first), CheckpointFolder::Check::contents);
    });
  }
  CheckpointBlobs blobs = gather_blobs(agreement, near, folder, server_.rank(), server_.ranks());
  const Source source{.folder = folder,
                      .manifest = near.manifest(host_.first),
                      .rank = Rank(static_cast<std::int32_t>(host_.index)),
                      .ranks = static_cast<std::int32_t>(host_.ranks)};
  LoadedCheckpoint loaded = load_tables(agreement, source, near.manifest(), std::move(blobs), loads);
  loaded.only_local = true;
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
    for (const auto& [table, load, grow] : loads) {
      const TableRecord* const record = manifest.table(table->name());
      if (record == nullptr) {
        throw CheckpointError(CheckpointError::Reason::mismatch, manifest_file,
                              fmt::format("has no table '{}'", table->name()));
      }
      table->require_fit(*record, load, grow, manifest_file);
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
    loads.push_back({&*table, load, request.grow});
  }
  if (request.tables.empty())
    for (const CheckpointTable& table : tables_)
      loads.push_back({&table, {.table = table.name()}, request.grow});
  return loads;
}

}  // namespace lapse
