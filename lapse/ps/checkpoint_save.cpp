#include "lapse/ps/checkpoint_save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <system_error>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/ps/checkpoint_files.hpp"

namespace lapse {

namespace {

constexpr std::uint64_t kAlignment = CheckpointFileMap::kAlignment;

}  // namespace

CheckpointSave::CheckpointSave(Request request, const std::vector<CheckpointTable>& tables,
                               CheckpointStaging* staging)
    : request_(std::move(request)), tables_(tables) {
  if (staging != nullptr) {
    std::size_t bytes = 0;
    for (const CheckpointTable& table : tables_) bytes += SavedRows::staging_bytes(table.handle().state());
    staging->begin(bytes);
  }
  for (const CheckpointTable& table : tables_) {
    rows_.emplace_back(table.handle().state(), staging);
    if (rows_.back().keys() != 0)
      bytes_ += CheckpointFileMap::aligned(rows_.back().shard_bytes(table.header(request_.checkpoint)));
  }
  for (const auto& blob : blobs()) bytes_ += padded_to_8(blob.size());
}

CheckpointSave::~CheckpointSave() {
  if (thread_.joinable()) thread_.join();
}

std::vector<std::span<const std::byte>> CheckpointSave::blobs() const {
  std::vector<std::span<const std::byte>> all;
  if (is_first_rank() && !request_.content.global.empty())
    all.push_back(std::as_bytes(std::span(request_.content.global)));
  for (const std::string& one : request_.content.per_worker) all.push_back(std::as_bytes(std::span(one)));
  return all;
}

void CheckpointSave::write(const Place& place) {
  place_ = place;
  try {
    write_part();
  } catch (...) {
    failure_ = std::current_exception();
  }
  rows_.clear();
  done_.store(true, std::memory_order_release);
}

void CheckpointSave::write_in_background(const Place& place) {
  try {
    thread_ = std::thread([this, place] { write(place); });
  } catch (const std::system_error&) {
    failure_ = std::current_exception();
    done_.store(true, std::memory_order_release);
  }
}

void CheckpointSave::write_part() {
  for (const Clock clock : request_.content.clocks) part_.add_clock(clock.value());
  const std::string name = checkpoint_file_name(request_.checkpoint, place_.file, place_.files);
  part_.set_file(name);
  request_.folder.make_step(request_.step, name);
  if (is_first_rank()) request_.folder.remove_left_overs(request_.step, request_.checkpoint);
  const auto all_blobs = blobs();
  if (bytes_ == 0 && all_blobs.empty()) return;

  DurableFile file(request_.folder.file_path(request_.step, name), place_.offset);
  file.reserve(bytes_);
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    if (rows_[table].keys() == 0) continue;
    ShardWriter writer(file, tables_[table].header(request_.checkpoint));
    rows_[table].write(writer);
    part_.add(table, writer.finish());
    file.align(kAlignment);
  }
  bool is_global = is_first_rank() && !request_.content.global.empty();
  for (const auto& blob : all_blobs) {
    const BlobRecord record{.file = name,
                            .offset = blob.empty() ? 0 : file.position(),
                            .bytes = blob.size(),
                            .checksum = checksum(blob)};
    std::exchange(is_global, false) ? part_.add_global(record) : part_.add_worker(record);
    file.write(blob);
    file.align(8);
  }
  if (file.written() > bytes_) {
    throw ProtocolError(
        fmt::format("{}: {} bytes were written, expected {}", file.path(), file.written(), bytes_));
  }
  file.finish();
  // On every host: each has its own view of the folder.
  request_.folder.sync_name(request_.step, name);
}

SavedPart CheckpointSave::part() {
  if (thread_.joinable()) thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  return part_;
}

void CheckpointSave::discard() const noexcept {
  request_.folder.discard(request_.step, {part_.file()});
}

void CheckpointSave::discard(const std::vector<SavedPart>& parts) const noexcept {
  try {
    const std::vector<std::uint64_t> steps = request_.folder.steps();
    const bool has_manifest = std::ranges::find(steps, request_.step) != steps.end();
    // It was renamed before the failure.
    if (has_manifest && request_.folder.manifest(request_.step).checkpoint == request_.checkpoint) return;
    std::vector<std::string> files;
    for (const SavedPart& part : parts) files.push_back(part.file());
    request_.folder.discard(request_.step, files);
  } catch (const std::exception&) {
    // The next save removes what is left over.
  }
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
  request_.folder.commit(manifest);
  if (request_.keep) withdraw_older();
}

void CheckpointSave::withdraw_older() const {
  std::vector<std::uint64_t> others = request_.folder.steps();
  std::erase(others, request_.step);
  for (std::size_t i = 0; i + *request_.keep <= others.size(); ++i) {
    try {
      request_.folder.withdraw(others[i]);
    } catch (const CheckpointError&) {
      // The one that was to be saved is there; what cannot be removed stays.
    }
  }
}

void CheckpointSave::remove_left_overs() const noexcept {
  try {
    request_.folder.remove_left_overs(request_.step, request_.checkpoint);
  } catch (const std::exception&) {
    // The next save tries again.
  }
}

}  // namespace lapse
