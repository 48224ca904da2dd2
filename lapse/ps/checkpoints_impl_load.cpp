#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/ps/checkpoint_loader.hpp"
#include "lapse/ps/checkpoints_impl.hpp"

namespace lapse {

LoadedCheckpoint Checkpoints::Impl::load(const LoadRequest& request) {
  const bool is_own = request.folder.empty();
  const CheckpointFolder folder = is_own ? folder_ : CheckpointFolder(request.folder);
  const std::optional<std::uint64_t> step = request.step;
  finish();
  join_cleaner();  // On every rank before the exchange: it might remove what is found.
  CheckpointAgreement agreement(server_, "load_checkpoint");
  std::string arguments = step ? fmt::format("step {}", *step) : "the newest step";
  for (const TableLoad& one : request.tables)
    arguments += fmt::format(", table '{}' keys {} to {}{}{}", one.table, one.first_key, one.last_key,
                             one.state ? "" : " without state", one.convert ? " converted" : "");
  agreement.require_equal(call_text(folder, arguments));
  std::vector<ChosenTable> loads;
  agreement.run([&] { loads = chosen(request); });
  std::vector<std::string> problems;
  std::optional<LocalCheckpoint> near;
  if (local() && is_own) {
    near = find_local(agreement, step, problems);
    local_is_known_ = true;
    kept_local_ = near ? std::optional(near->checkpoint()) : std::nullopt;
  }
  const FoundCheckpoint found = find(agreement, folder, step, near, problems);
  functions_.set_label(fmt::format("{:016x}", found.call));
  problems.insert(problems.begin(), found.problems.begin(), found.problems.end());

  // The nearer one has what the folder of all ranks has, or what is newer.
  const bool has_far = !found.manifest.empty();
  std::optional<LoadedCheckpoint> loaded;
  try {
    if (near && (!has_far || near->step() >= found.step)) {
      try {
        loaded = load_near(agreement, *near, loads);
      } catch (const CheckpointError& error) {
        if (!has_far || near->step() != found.step || error.reason() == CheckpointError::Reason::mismatch)
          throw;
        problems.emplace_back(error.what());
      }
    }
    if (!loaded) loaded = load_far(agreement, folder, found, loads);
  } catch (const CheckpointError& error) {
    // Every rank has this error.
    if (error.reason() == CheckpointError::Reason::mismatch) throw;  // Of no other step there is more hope.
    const std::uint64_t failed =
        near && !has_far ? near->step() : std::max(found.step, near ? near->step() : 0);
    const std::vector<std::string> others = agreement.exchange(
        [&]() -> std::string { return is_first_rank() ? other_checkpoint(folder, failed) : std::string(); });
    agreement.throw_everywhere(
        std::make_exception_ptr(CheckpointError(error.reason(), error.file(), error.problem() + others[0])));
  }
  loaded->problems = std::move(problems);
  if (is_own) {
    resumed_ = loaded->step;
    saved_.clear();
  }
  return *std::move(loaded);
}

std::optional<LocalCheckpoint> Checkpoints::Impl::find_local(CheckpointAgreement& agreement,
                                                             std::optional<std::uint64_t> step,
                                                             std::vector<std::string>& problems) const {
  // The run is that of the folder of all ranks.
  const auto latest =
      agreement.exchange([&] { return is_first_rank() ? folder_.latest() : CheckpointFolder::Latest(); })[0];
  const auto listings = agreement.exchange([&] {
    return host_.index == 0 ? local()->list(folder_number(folder_.path()).value_or(0))
                            : LocalCheckpoints::Listing();
  });
  return newest_local(listings, step, latest, problems);
}

FoundCheckpoint Checkpoints::Impl::find(CheckpointAgreement& agreement, const CheckpointFolder& folder,
                                        std::optional<std::uint64_t> step,
                                        const std::optional<LocalCheckpoint>& near,
                                        const std::vector<std::string>& problems) const {
  return agreement.exchange([&] {
    FoundCheckpoint found;
    if (!is_first_rank()) return found;
    try {
      found = find_checkpoint(folder, step);
    } catch (const CheckpointError& error) {
      if (!near && problems.empty()) throw;
      if (!near)
        throw CheckpointError(error.reason(), error.file(),
                              fmt::format("{}; {}", error.problem(), fmt::join(problems, "; ")));
      found.problems.emplace_back(error.what());
    }
    found.call = new_checkpoint_number();
    return found;
  })[0];
}

LoadedCheckpoint Checkpoints::Impl::load_near(CheckpointAgreement& agreement, const LocalCheckpoint& near,
                                              const std::vector<ChosenTable>& loads) {
  const CheckpointFolder folder(settings_.local_folder);
  CheckpointBlobs blobs = gather_blobs(agreement, near, folder, server_.rank());
  const Source source{.folder = folder,
                      .manifest = near.manifest(host_.first),
                      .rank = Rank(static_cast<std::int32_t>(host_.index)),
                      .ranks = static_cast<std::int32_t>(host_.ranks)};
  return load_tables(agreement, source, near.manifest(), std::move(blobs), loads);
}

LoadedCheckpoint Checkpoints::Impl::load_far(CheckpointAgreement& agreement, const CheckpointFolder& folder,
                                             const FoundCheckpoint& found,
                                             const std::vector<ChosenTable>& loads) {
  Source source{.folder = folder, .manifest = {}, .rank = server_.rank(), .ranks = server_.ranks()};
  CheckpointBlobs blobs;
  agreement.run([&] {
    source.manifest =
        Manifest::from_text(found.manifest, folder.file_path(found.step, std::string(Manifest::kFile)));
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

  // An error of the worker would end the server: it is kept until the phase is over.
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
