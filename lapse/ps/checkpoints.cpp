#include "lapse/ps/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/serialization/utility.hpp>
#include <chrono>
#include <exception>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/checkpoint/folder_lock.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/checkpoint_agreement.hpp"
#include "lapse/ps/checkpoint_files.hpp"
#include "lapse/ps/checkpoint_finder.hpp"
#include "lapse/ps/checkpoint_loader.hpp"
#include "lapse/ps/checkpoint_restorer.hpp"
#include "lapse/ps/checkpoint_save.hpp"
#include "lapse/ps/checkpoint_table.hpp"
#include "lapse/ps/worker_core.hpp"

namespace lapse {

namespace {

std::uint64_t new_checkpoint_number() {
  std::random_device random;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return mix_bits(static_cast<std::uint64_t>(now)) ^ (std::uint64_t{random()} << 32U) ^ random();
}

std::size_t ranks_of_host(const ParameterServer& server) {
  const std::vector<std::int32_t> hosts = server.hosts();
  return static_cast<std::size_t>(std::ranges::count(hosts, hosts[server.rank().index()]));
}

}  // namespace

class Checkpoints::Impl {
 public:
  Impl(ParameterServer& server, CheckpointSettings settings);

  void add(const TableHandle& table, const std::string& name);
  enum class Writing : std::uint8_t { at_once, in_background };
  void begin(std::uint64_t step, const CheckpointContent& content, Writing writing);
  void finish();
  bool done() const { return !save_ || save_->done(); }
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
  // Throws UsageError where the request names what there is not.
  std::vector<ChosenTable> chosen(const LoadRequest& request) const;
  // Removes the files of checkpoints that are gone.
  void remove_in_background(std::unique_ptr<CheckpointSave> save);
  // The arguments of a call, as ranks compare them.
  std::string call_text(const CheckpointFolder& folder, const std::string& step) const;
  // Takes the lock of the folder, unless this object has it, and waits until old files are removed.
  void lock();

  ParameterServer& server_;
  const CheckpointSettings settings_;
  const CheckpointFolder folder_;
  std::vector<CheckpointTable> tables_;
  RestoreFunctions functions_;
  const CheckpointFileMap files_;
  CheckpointStaging staging_;
  std::unique_ptr<FolderLock> lock_;      // on rank 0
  std::unique_ptr<CheckpointSave> save_;  // that is not finished
  std::jthread cleaner_;                  // removes files while the application goes on; on rank 0
};

Checkpoints::Impl::Impl(ParameterServer& server, CheckpointSettings settings)
    : server_(server),
      settings_(std::move(settings)),
      folder_(settings_.folder),
      files_(server.options().checkpoint_files, server.hosts()),
      staging_(ranks_of_host(server), fmt::format("checkpoints on rank {}", server.rank().value())) {
  const auto refuse = [&](std::string_view problem) {
    throw UsageError(fmt::format("settings of checkpoints on rank {}: {}", server_.rank().value(), problem));
  };
  if (settings_.folder.empty()) refuse("the folder has no name");
  if (settings_.keep && *settings_.keep == 0) refuse("a checkpoint that is saved must be kept: keep is 0");
  if (!settings_.local_folder.empty()) refuse("there are no local folders yet");
}

void Checkpoints::Impl::add(const TableHandle& table, const std::string& name) {
  if (save_)
    throw UsageError(
        fmt::format("a save_async is in progress on rank {}: call finish()", server_.rank().value()));
  for (const CheckpointTable& other : tables_)
    if (other.name() == name)
      throw UsageError(
          fmt::format("checkpoints have a table '{}' already, on rank {}", name, server_.rank().value()));
  tables_.emplace_back(table, name);
}

std::string Checkpoints::Impl::call_text(const CheckpointFolder& folder, const std::string& step) const {
  std::string text = fmt::format("folder '{}', {}, tables", folder.path(), step);
  for (const CheckpointTable& table : tables_)
    text += fmt::format(" '{}' ({})", table.name(), table.handle().id().value());
  return text;
}

void Checkpoints::Impl::lock() {
  if (cleaner_.joinable()) cleaner_.join();
  if (lock_) return;
  make_folder(folder_.path());
  lock_ = std::make_unique<FolderLock>(folder_.path());
}

// --- saving

void Checkpoints::Impl::begin(std::uint64_t step, const CheckpointContent& content, Writing writing) {
  finish();
  CheckpointAgreement agreement(server_, "save_checkpoint");
  std::vector<std::string> texts;
  std::uint64_t checkpoint = 0;
  const auto begin_call = [&]() -> std::pair<std::string, std::uint64_t> {
    const std::string arguments = fmt::format("step {}, keep {}", step, settings_.keep.value_or(0));
    if (is_first_rank()) lock();
    return {call_text(folder_, arguments), new_checkpoint_number()};
  };
  for (const auto& [text, number] : agreement.exchange(begin_call)) {
    if (texts.empty()) checkpoint = number;
    texts.push_back(text);
  }
  agreement.require_equal(texts);
  CheckpointSave::Request request{.folder = folder_,
                                  .step = step,
                                  .checkpoint = checkpoint,
                                  .rank = server_.rank(),
                                  .ranks = server_.ranks(),
                                  .content = content,
                                  .keep = settings_.keep};
  std::unique_ptr<CheckpointSave> save;
  const bool in_background = writing == Writing::in_background;
  const std::vector<std::uint64_t> bytes = agreement.exchange([&] {
    save = std::make_unique<CheckpointSave>(std::move(request), tables_, in_background ? &staging_ : nullptr);
    return save->bytes();
  });
  const CheckpointSave::Place place{.file = files_.file(server_.rank()),
                                    .files = files_.files(),
                                    .offset = files_.offset(server_.rank(), bytes)};
  save_ = std::move(save);
  in_background ? save_->write_in_background(place) : save_->write(place);
}

void Checkpoints::Impl::finish() {
  if (!save_) return;
  std::unique_ptr<CheckpointSave> save = std::move(save_);
  CheckpointAgreement agreement(server_, "save_checkpoint");
  std::vector<SavedPart> parts;
  try {
    parts = agreement.exchange([&] { return save->part(); });
  } catch (...) {
    save->discard();
    throw;
  }
  agreement.run([&] {
    if (!is_first_rank()) return;
    try {
      save->commit(parts);
    } catch (...) {
      save->discard(parts);
      throw;
    }
  });
  if (is_first_rank()) remove_in_background(std::move(save));
}

void Checkpoints::Impl::remove_in_background(std::unique_ptr<CheckpointSave> save) {
  const std::shared_ptr<const CheckpointSave> of_thread = std::move(save);
  try {
    cleaner_ = std::jthread([of_thread] { of_thread->remove_left_overs(); });
  } catch (const std::system_error&) {
    of_thread->remove_left_overs();
  }
}

// --- loading

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
  FoundCheckpoint found = agreement.exchange([&] {
    FoundCheckpoint own;
    if (is_first_rank()) own = find_checkpoint(folder, step);
    own.call = new_checkpoint_number();
    return own;
  })[0];
  functions_.set_label(fmt::format("{:016x}", found.call));
  const std::string manifest_file = folder.file_path(found.step, std::string(Manifest::kFile));
  Manifest manifest;
  CheckpointLoader loader(folder, manifest, server_.rank(), server_.ranks());
  agreement.run([&] {
    manifest = Manifest::from_text(found.manifest, manifest_file);
    for (const auto& [table, load] : loads) {
      const TableRecord* const record = manifest.table(table->name());
      if (record == nullptr) {
        throw CheckpointError(CheckpointError::Reason::mismatch, manifest_file,
                              fmt::format("has no table '{}'", table->name()));
      }
      table->require_fit(*record, load, manifest_file);
      loader.open(*table, *record, load);
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
      if (!is_first_rank()) return {};
      return other_checkpoint(folder, manifest.step);
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

// --- the interface

Checkpoints::Checkpoints(ParameterServer& server, CheckpointSettings settings)
    : impl_(std::make_unique<Impl>(server, std::move(settings))) {}
Checkpoints::~Checkpoints() = default;

void Checkpoints::add(const TableHandle& table, const std::string& name) {
  impl_->add(table, name);
}

void Checkpoints::save(std::uint64_t step, const CheckpointContent& content) {
  impl_->begin(step, content, Impl::Writing::at_once);
  impl_->finish();
}

void Checkpoints::save_async(std::uint64_t step, const CheckpointContent& content) {
  impl_->begin(step, content, Impl::Writing::in_background);
}

bool Checkpoints::done() const {
  return impl_->done();
}

void Checkpoints::finish() {
  impl_->finish();
}

void Checkpoints::release_memory() {
  impl_->release_memory();
}

LoadedCheckpoint Checkpoints::load(const LoadRequest& request) {
  return impl_->load(request);
}

}  // namespace lapse
