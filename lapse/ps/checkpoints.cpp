#include "lapse/ps/checkpoints.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <random>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/checkpoint/folder_lock.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/checkpoint_agreement.hpp"
#include "lapse/ps/checkpoint_loader.hpp"
#include "lapse/ps/checkpoint_restorer.hpp"
#include "lapse/ps/checkpoint_table.hpp"
#include "lapse/ps/worker_core.hpp"

namespace lapse {

namespace {

// What one rank has written.
struct SavedPart {
  std::vector<std::uint64_t> tables;  // by shard: the number of its table
  std::vector<std::string> files;
  std::vector<std::uint64_t> numbers;  // by shard: bytes, entries, first key, last key, checksum of the index
  std::vector<std::string> blobs;
  std::vector<std::uint64_t> blob_numbers;  // by blob: bytes, checksum
  std::vector<std::int64_t> clocks;

  void add(std::uint64_t table, const ShardRecord& shard) {
    tables.push_back(table);
    files.push_back(shard.file);
    for (const std::uint64_t number :
         {shard.bytes, shard.entries, shard.first_key, shard.last_key, shard.index_checksum})
      numbers.push_back(number);
  }
  void add(const BlobRecord& blob) {
    blobs.push_back(blob.file);
    blob_numbers.push_back(blob.bytes);
    blob_numbers.push_back(blob.checksum);
  }
  void append_to(Manifest& manifest) const {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::uint64_t* const number = &numbers[5 * i];
      manifest.tables[tables[i]].shards.push_back({.file = files[i],
                                                   .bytes = number[0],
                                                   .entries = number[1],
                                                   .first_key = number[2],
                                                   .last_key = number[3],
                                                   .index_checksum = number[4]});
    }
    for (std::size_t i = 0; i < blobs.size(); ++i) {
      manifest.per_worker.push_back(
          {.file = blobs[i], .bytes = blob_numbers[2 * i], .checksum = blob_numbers[2 * i + 1]});
    }
    manifest.clocks.insert(manifest.clocks.end(), clocks.begin(), clocks.end());
  }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& tables& files& numbers& blobs& blob_numbers& clocks;
  }
};

// What rank 0 has found in the folder.
struct FoundCheckpoint {
  std::uint64_t step = 0;
  std::string manifest;
  std::vector<std::string> problems;
  std::string global;
  std::vector<std::string> per_worker;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& step& manifest& problems& global& per_worker;
  }
};

std::uint64_t new_checkpoint_number() {
  std::random_device random;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return mix_bits(static_cast<std::uint64_t>(now)) ^ (std::uint64_t{random()} << 32U) ^ random();
}

std::string to_string(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

class Checkpoints::Impl {
 public:
  explicit Impl(ParameterServer& server) : server_(server) {}

  void add(const TableHandle& table, const std::string& name);
  void save(const CheckpointFolder& folder, std::uint64_t step, const CheckpointContent& content,
            std::optional<std::size_t> keep);
  LoadedCheckpoint load(const CheckpointFolder& folder, std::optional<std::uint64_t> step);

 private:
  bool is_first_rank() const { return server_.rank() == Rank(0); }
  // The arguments of a call, as ranks compare them.
  std::string call_text(const CheckpointFolder& folder, const std::string& step) const;
  // The name of a file of this rank.
  std::string file_name(std::uint64_t checkpoint, const std::string& part) const {
    return fmt::format("{:016x}-{}-r{}", checkpoint, part, server_.rank().value());
  }
  // Takes the lock of the folder, unless this object has it.
  void lock(const CheckpointFolder& folder);
  SavedPart write_part(const CheckpointFolder& folder, std::uint64_t step, std::uint64_t checkpoint,
                       const CheckpointContent& content, std::vector<std::string>& files) const;
  void commit(const CheckpointFolder& folder, Manifest manifest, const std::string& global,
              std::optional<std::size_t> keep) const;
  FoundCheckpoint find(const CheckpointFolder& folder, std::optional<std::uint64_t> step) const;

  ParameterServer& server_;
  std::vector<CheckpointTable> tables_;
  RestoreFunctions functions_;
  std::string locked_folder_;
  std::unique_ptr<FolderLock> lock_;  // on rank 0
};

void Checkpoints::Impl::add(const TableHandle& table, const std::string& name) {
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

void Checkpoints::Impl::lock(const CheckpointFolder& folder) {
  if (lock_ && locked_folder_ == folder.path()) return;
  lock_.reset();
  make_folder(folder.path());
  lock_ = std::make_unique<FolderLock>(folder.path());
  locked_folder_ = folder.path();
}

// --- saving

void Checkpoints::Impl::save(const CheckpointFolder& folder, std::uint64_t step,
                             const CheckpointContent& content, std::optional<std::size_t> keep) {
  CheckpointAgreement agreement(server_, "save_checkpoint");
  agreement.require_equal(call_text(folder, fmt::format("step {}, keep {}", step, keep.value_or(0))));
  const std::uint64_t checkpoint = agreement.exchange([&]() -> std::uint64_t {
    if (keep && *keep == 0) throw UsageError("a checkpoint that is saved must be kept: keep is 0");
    if (!is_first_rank()) return 0;
    lock(folder);
    folder.prepare(step);
    return new_checkpoint_number();
  })[0];

  std::vector<std::string> files;
  std::vector<SavedPart> parts;
  try {
    parts = agreement.exchange([&] { return write_part(folder, step, checkpoint, content, files); });
  } catch (...) {
    folder.discard(step, files);
    throw;
  }
  agreement.run([&] {
    if (!is_first_rank()) return;
    Manifest manifest;
    manifest.checkpoint = checkpoint;
    manifest.step = step;
    manifest.ranks = static_cast<std::uint64_t>(server_.ranks());
    for (const CheckpointTable& table : tables_) manifest.tables.push_back(table.record());
    for (const SavedPart& part : parts) part.append_to(manifest);
    commit(folder, std::move(manifest), content.global, keep);
  });
}

SavedPart Checkpoints::Impl::write_part(const CheckpointFolder& folder, std::uint64_t step,
                                        std::uint64_t checkpoint, const CheckpointContent& content,
                                        std::vector<std::string>& files) const {
  SavedPart part;
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    files.push_back(file_name(checkpoint, fmt::format("t{}", table)) + ".shard");
    if (const auto shard = tables_[table].write(folder.file_path(step, files.back()), checkpoint))
      part.add(table, *shard);
  }
  for (std::size_t worker = 0; worker < content.per_worker.size(); ++worker) {
    files.push_back(file_name(checkpoint, fmt::format("w{}", worker)) + ".blob");
    part.add(folder.write_blob(step, files.back(), std::as_bytes(std::span(content.per_worker[worker]))));
  }
  for (const Clock clock : content.clocks) part.clocks.push_back(clock.value());
  // Also where the ranks of another host have other names in memory.
  sync_folder(folder.step_path(step));
  return part;
}

void Checkpoints::Impl::commit(const CheckpointFolder& folder, Manifest manifest, const std::string& global,
                               std::optional<std::size_t> keep) const {
  for (const TableRecord& table : manifest.tables) {
    if (!table.sparse && table.entries() != table.keys) {
      throw ProtocolError(fmt::format("table '{}' has {} keys, but the ranks own {} together", table.name,
                                      table.keys, table.entries()));
    }
  }
  if (!global.empty()) {
    manifest.global = folder.write_blob(manifest.step, file_name(manifest.checkpoint, "global") + ".blob",
                                        std::as_bytes(std::span(global)));
  }
  folder.commit(manifest);
  if (!keep) return;
  std::vector<std::uint64_t> others = folder.steps();
  std::erase(others, manifest.step);
  for (std::size_t i = 0; i + *keep <= others.size(); ++i) {
    try {
      folder.remove(others[i]);
    } catch (const CheckpointError&) {
      // The one that was to be saved is there; what cannot be removed stays.
    }
  }
}

// --- loading

LoadedCheckpoint Checkpoints::Impl::load(const CheckpointFolder& folder, std::optional<std::uint64_t> step) {
  CheckpointAgreement agreement(server_, "load_checkpoint");
  agreement.require_equal(call_text(folder, step ? fmt::format("step {}", *step) : "the newest step"));
  FoundCheckpoint found =
      agreement.exchange([&] { return is_first_rank() ? find(folder, step) : FoundCheckpoint(); })[0];
  const std::string manifest_file = folder.file_path(found.step, std::string(Manifest::kFile));
  Manifest manifest;
  CheckpointLoader loader(folder, manifest, server_.rank(), server_.ranks());
  agreement.run([&] {
    manifest = Manifest::from_text(found.manifest, manifest_file);
    for (const CheckpointTable& table : tables_) {
      const TableRecord* const record = manifest.table(table.name());
      if (record == nullptr) {
        throw CheckpointError(CheckpointError::Reason::mismatch, manifest_file,
                              fmt::format("has no table '{}'", table.name()));
      }
      table.require_fit(*record, manifest_file);
      loader.open(table, *record);
    }
  });
  for (const CheckpointTable& table : tables_) functions_.prepare(server_, *manifest.table(table.name()));

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
  loaded.global = std::move(found.global);
  loaded.per_worker = std::move(found.per_worker);
  for (const std::int64_t clock : manifest.clocks) loaded.clocks.emplace_back(clock);
  loaded.problems = std::move(found.problems);
  loaded.bytes_read = loader.bytes_read();
  return loaded;
}

FoundCheckpoint Checkpoints::Impl::find(const CheckpointFolder& folder,
                                        std::optional<std::uint64_t> step) const {
  FoundCheckpoint found;
  Manifest manifest;
  if (step) {
    try {
      manifest = folder.manifest(*step);
      folder.check(manifest, CheckpointFolder::Check::structure);
    } catch (const CheckpointError& error) {
      const CheckpointFolder::Newest other = folder.newest(CheckpointFolder::Check::structure);
      if (!other.manifest) throw;
      throw CheckpointError(error.reason(), error.file(),
                            fmt::format("{}; step {} can be loaded", error.problem(), other.manifest->step));
    }
  } else {
    CheckpointFolder::Newest newest = folder.newest(CheckpointFolder::Check::structure);
    if (!newest.manifest) {
      std::string problem = "has no whole checkpoint";
      for (const std::string& one : newest.problems) problem += "; " + one;
      throw CheckpointError(CheckpointError::Reason::missing, folder.path(), problem);
    }
    manifest = std::move(*newest.manifest);
    found.problems = std::move(newest.problems);
  }
  found.step = manifest.step;
  found.manifest = manifest.to_text();
  if (manifest.global) found.global = to_string(folder.read_blob(manifest, *manifest.global));
  for (const BlobRecord& blob : manifest.per_worker)
    found.per_worker.push_back(to_string(folder.read_blob(manifest, blob)));
  return found;
}

// --- the interface

Checkpoints::Checkpoints(ParameterServer& server) : impl_(std::make_unique<Impl>(server)) {}
Checkpoints::~Checkpoints() = default;

void Checkpoints::add(const TableHandle& table, const std::string& name) {
  impl_->add(table, name);
}

void Checkpoints::save(const std::string& folder, std::uint64_t step, const CheckpointContent& content,
                       std::optional<std::size_t> keep) {
  impl_->save(CheckpointFolder(folder), step, content, keep);
}

LoadedCheckpoint Checkpoints::load(const std::string& folder, std::optional<std::uint64_t> step) {
  return impl_->load(CheckpointFolder(folder), step);
}

}  // namespace lapse
