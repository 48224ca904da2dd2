#include "lapse/ps/checkpoint_save.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

// --- what is exchanged

void SavedPart::add(std::uint64_t table, const ShardRecord& shard) {
  tables.push_back(table);
  files.push_back(shard.file);
  for (const std::uint64_t number :
       {shard.bytes, shard.entries, shard.first_key, shard.last_key, shard.index_checksum})
    numbers.push_back(number);
}

void SavedPart::add(const BlobRecord& blob) {
  blobs.push_back(blob.file);
  blob_numbers.push_back(blob.bytes);
  blob_numbers.push_back(blob.checksum);
}

void SavedPart::append_to(Manifest& manifest) const {
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

// --- writing

CheckpointSave::CheckpointSave(Request request, const std::vector<CheckpointTable>& tables)
    : request_(std::move(request)), tables_(tables) {
  for (const CheckpointTable& table : tables_) contents_.push_back(table.part());
}

CheckpointSave::~CheckpointSave() {
  if (thread_.joinable()) thread_.join();
}

std::string CheckpointSave::file_name(const std::string& part, const std::string& extension) const {
  return fmt::format("{:016x}-{}-r{}.{}", request_.checkpoint, part, request_.rank.value(), extension);
}

void CheckpointSave::write() {
  try {
    write_files();
  } catch (...) {
    failure_ = std::current_exception();
  }
  contents_.clear();
  done_.store(true, std::memory_order_release);
}

void CheckpointSave::write_in_background() {
  for (std::size_t table = 0; table < tables_.size(); ++table) tables_[table].copy(contents_[table]);
  thread_ = std::thread([this] { write(); });
}

void CheckpointSave::write_files() {
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    files_.push_back(file_name(fmt::format("t{}", table), "shard"));
    const std::string path = request_.folder.file_path(request_.step, files_.back());
    if (const auto shard = tables_[table].write(contents_[table], path, request_.checkpoint))
      part_.add(table, *shard);
    contents_[table] = {};
  }
  const CheckpointContent& content = request_.content;
  for (std::size_t worker = 0; worker < content.per_worker.size(); ++worker) {
    files_.push_back(file_name(fmt::format("w{}", worker), "blob"));
    part_.add(request_.folder.write_blob(request_.step, files_.back(),
                                         std::as_bytes(std::span(content.per_worker[worker]))));
  }
  for (const Clock clock : content.clocks) part_.clocks.push_back(clock.value());
  // On every host: each has its own view of the folder.
  sync_folder(request_.folder.step_path(request_.step));
}

SavedPart CheckpointSave::part() {
  if (thread_.joinable()) thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  return part_;
}

void CheckpointSave::discard() const noexcept {
  request_.folder.discard(request_.step, files_);
}

// --- the manifest

void CheckpointSave::commit(const std::vector<SavedPart>& parts) const {
  Manifest manifest;
  manifest.checkpoint = request_.checkpoint;
  manifest.step = request_.step;
  manifest.ranks = static_cast<std::uint64_t>(request_.ranks);
  for (const CheckpointTable& table : tables_) manifest.tables.push_back(table.record());
  for (const SavedPart& part : parts) part.append_to(manifest);
  for (const TableRecord& table : manifest.tables) {
    if (table.sparse || table.entries() == table.keys) continue;
    throw ProtocolError(fmt::format("table '{}' has {} keys, but the ranks own {} together", table.name,
                                    table.keys, table.entries()));
  }
  if (const std::string& global = request_.content.global; !global.empty()) {
    manifest.global = request_.folder.write_blob(request_.step, file_name("global", "blob"),
                                                 std::as_bytes(std::span(global)));
  }
  request_.folder.commit(manifest);
  if (request_.keep) remove_older();
}

void CheckpointSave::remove_older() const {
  std::vector<std::uint64_t> others = request_.folder.steps();
  std::erase(others, request_.step);
  for (std::size_t i = 0; i + *request_.keep <= others.size(); ++i) {
    try {
      request_.folder.remove(others[i]);
    } catch (const CheckpointError&) {
      // The one that was to be saved is there; what cannot be removed stays.
    }
  }
}

}  // namespace lapse
