#include <fmt/format.h>

#include <exception>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/ps/checkpoint_loader.hpp"
#include "lapse/ps/checkpoints_impl.hpp"

namespace lapse {

LoadedCheckpoint Checkpoints::Impl::load(const LoadRequest& request) {
  const CheckpointFolder folder = request.folder.empty() ? folder_ : CheckpointFolder(request.folder);
  const std::optional<std::uint64_t> step = request.step;
  finish();
  CheckpointAgreement agreement(server_, "load_checkpoint");
  std::string arguments = step ? fmt::format("step {}", *step) : "the newest step";
  for (const TableLoad& one : request.tables)
    arguments += fmt::format(", table '{}' keys {} to {}{}{}", one.table, one.first_key, one.last_key,
                             one.state ? "" : " without state", one.convert ? " converted" : "");
  agreement.require_equal(call_text(folder, arguments));
  std::vector<ChosenTable> loads;
  agreement.run([&] { loads = chosen(request); });
  std::vector<std::string> problems;
  std::optional<LocalCheckpoint> own;
  if (local() && request.folder.empty()) own = find_local(agreement, step, problems);
  FoundCheckpoint found = agreement.exchange([&] {
    FoundCheckpoint of_rank;
    of_rank.call = new_checkpoint_number();
    if (!is_first_rank()) return of_rank;
    try {
      of_rank = find_checkpoint(folder, step);
    } catch (const CheckpointError& error) {
      if (!own && problems.empty()) throw;
      if (!own)
        throw CheckpointError(error.reason(), error.file(),
                              fmt::format("{}; {}", error.problem(), fmt::join(problems, "; ")));
      of_rank.problems.emplace_back(error.what());
    }
    of_rank.call = new_checkpoint_number();
    return of_rank;
  })[0];
  functions_.set_label(fmt::format("{:016x}", found.call));
  // What is in the folder of all ranks as well is read from the nearer one.
  const bool is_near = own && (found.manifest.empty() || own->step() > found.step ||
                               own->checkpoint() == Manifest::from_text(found.manifest, "").checkpoint);
  if (is_near) found = read_local(agreement, *own, std::move(found));
  found.problems.insert(found.problems.end(), problems.begin(), problems.end());
  const CheckpointFolder source_folder = is_near ? CheckpointFolder(settings_.local_folder) : folder;
  const std::string manifest_file = source_folder.file_path(found.step, std::string(Manifest::kFile));
  Manifest manifest;
  Manifest readable;  // by this rank
  CheckpointLoader loader =
      is_near ? CheckpointLoader(source_folder, readable, Rank(static_cast<int>(host_.index)),
                                 static_cast<std::int32_t>(host_.ranks))
              : CheckpointLoader(source_folder, readable, server_.rank(), server_.ranks());
  agreement.run([&] {
    manifest = Manifest::from_text(found.manifest, manifest_file);
    readable = is_near ? own->manifest(host_.first) : manifest;
    for (const auto& [table, load] : loads) {
      const TableRecord* const record = manifest.table(table->name());
      if (record == nullptr) {
        throw CheckpointError(CheckpointError::Reason::mismatch, manifest_file,
                              fmt::format("has no table '{}'", table->name()));
      }
      table->require_fit(*record, load, manifest_file);
      loader.open(*table, *readable.table(table->name()), load);
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
  try {
    agreement.run([&] {
      if (failure) std::rethrow_exception(failure);
    });
  } catch (const CheckpointError& error) {
    // Every rank has this error.
    const std::vector<std::string> others = agreement.exchange([&]() -> std::string {
      return is_first_rank() ? other_checkpoint(folder, manifest.step) : std::string();
    });
    agreement.throw_everywhere(
        std::make_exception_ptr(CheckpointError(error.reason(), error.file(), error.problem() + others[0])));
  }

  LoadedCheckpoint loaded;
  loaded.step = manifest.step;
  loaded.ranks = static_cast<std::int32_t>(manifest.ranks);
  loaded.global = std::move(found.global);
  loaded.per_worker = std::move(found.per_worker);
  for (const std::int64_t clock : manifest.clocks) loaded.clocks.emplace_back(clock);
  loaded.problems = std::move(found.problems);
  loaded.bytes_read = loader.bytes_read();
  return loaded;
}

std::optional<LocalCheckpoint> Checkpoints::Impl::find_local(CheckpointAgreement& agreement,
                                                             std::optional<std::uint64_t> step,
                                                             std::vector<std::string>& problems) const {
  return newest_local(
      agreement.exchange([&] { return host_.index == 0 ? local()->list() : LocalCheckpoints::Listing(); }),
      step, problems);
}

FoundCheckpoint Checkpoints::Impl::read_local(CheckpointAgreement& agreement, const LocalCheckpoint& own,
                                              FoundCheckpoint found) const {
  using Blobs = std::vector<std::string>;  // of each part on this host: global, then of workers
  const std::vector<std::vector<Blobs>> by_rank = agreement.exchange([&] {
    std::vector<Blobs> blobs;
    if (host_.index != 0) return blobs;
    for (const LocalCheckpoint::Part& part : own.parts) {
      if (part.lister != server_.rank().index()) continue;
      blobs.push_back(read_blobs(local()->folder(), part.manifest));
    }
    return blobs;
  });
  found.step = own.step();
  found.manifest = own.manifest().to_text();
  std::vector<std::size_t> next(by_rank.size());
  found.global.clear();
  found.per_worker.clear();
  for (const LocalCheckpoint::Part& part : own.parts) {
    const Blobs& blobs = by_rank[part.lister].at(next[part.lister]++);
    if (part.manifest.global) found.global = blobs.at(0);
    found.per_worker.insert(found.per_worker.end(), blobs.begin() + 1, blobs.end());
  }
  return found;
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
