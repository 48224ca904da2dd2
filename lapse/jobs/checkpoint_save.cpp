#include "lapse/jobs/checkpoint_save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/core/process/library_thread.hpp"
#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/jobs/checkpoint_files.hpp"

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
    records_.push_back(table.record());
    rows_.emplace_back(table.handle().state(), staging);
    if (rows_.back().keys() != 0)
      bytes_ += CheckpointFileMap::aligned(rows_.back().shard_bytes(header(rows_.size() - 1)));
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

void CheckpointSave::attempt(void (CheckpointSave::*f)()) {
  try {
    if (!failure_) (this->*f)();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void CheckpointSave::write(const Place& place) {
  place_ = place;
  attempt(&CheckpointSave::set_names);
  attempt(request_.local ? &CheckpointSave::write_local : &CheckpointSave::write_directly);
  staged_well_ = failure_ == nullptr;
  rows_.clear();
  end_staging();
  if (request_.local) attempt(&CheckpointSave::copy_from_local);
  done_.store(true, std::memory_order_release);
}

void CheckpointSave::end_staging() {
  staged_.store(true, std::memory_order_release);
  staged_.notify_all();
}

void CheckpointSave::set_names() {
  name_ = checkpoint_file_name(request_.checkpoint, place_.file, place_.files);
  for (const Clock clock : request_.content.clocks) part_.add_clock(clock.value());
}

void CheckpointSave::write_in_background(const Place& place) {
  try {
    thread_ = start_library_thread("lapse-save", [this, place] {
      const TimedRegion region("lapse checkpoint write");
      write(place);
    });
  } catch (...) {
    failure_ = std::current_exception();
    end_staging();
    done_.store(true, std::memory_order_release);
  }
}

void CheckpointSave::write_directly() {
  prepare_folder();
  if (!has_bytes()) return;
  DurableFile file(request_.folder.file_path(request_.step, name_), place_.offset);
  part_.set_file(name_);
  write_part(file);
  // On every host, because each has its own view of the folder.
  request_.folder.sync_name(request_.step, name_);
}

void CheckpointSave::write_local() {
  const CheckpointFolder& folder = request_.local->folder();
  const std::string name = LocalCheckpoints::file_name(request_.checkpoint, request_.rank);
  folder.make_step(request_.step, name);
  DurableFile file(folder.file_path(request_.step, name));
  part_.set_file(name);
  write_part(file);
  Manifest manifest = empty_manifest();
  part_.append_to(manifest);
  healthy_ = !request_.expect_finite || manifest.not_finite() == 0;
  request_.local->announce(manifest, request_.rank);
}

void CheckpointSave::copy_from_local() {
  const ReadableFile from(request_.local->folder().file_path(request_.step, part_.file()));
  prepare_folder();
  part_.move_to(name_, place_.offset);
  if (!has_bytes()) return;
  DurableFile to(request_.folder.file_path(request_.step, name_), place_.offset);
  to.reserve(bytes_);
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  for (std::uint64_t at = 0; at < from.bytes(); at += kPiece)
    to.write(from.read(at, std::min(kPiece, from.bytes() - at)));
  to.finish();
  request_.folder.sync_name(request_.step, name_);
}

bool CheckpointSave::has_bytes() const {
  return bytes_ != 0 || !blobs().empty();
}

void CheckpointSave::prepare_folder() {
  request_.folder.make_step(request_.step, name_);
  if (is_first_rank()) request_.folder.remove_left_overs(request_.step, request_.checkpoint);
}

void CheckpointSave::write_part(DurableFile& file) {
  file.reserve(bytes_);
  for (std::size_t table = 0; table < records_.size(); ++table) {
    if (rows_[table].keys() == 0) continue;
    ShardWriter writer(file, header(table));
    rows_[table].write(writer);
    part_.add(table, writer.finish());
    file.align(kAlignment);
  }
  bool is_global = is_first_rank() && !request_.content.global.empty();
  for (const auto& blob : blobs()) {
    const BlobRecord record{.file = {},
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
}

SavedPart CheckpointSave::part() {
  if (thread_.joinable()) thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  return part_;
}

ShardHeader CheckpointSave::header(std::size_t table) const {
  const TableRecord& record = records_[table];
  return {.checkpoint = request_.checkpoint,
          .table = record.name,
          .element = record.element,
          .length = record.length,
          .state_elements = record.state_elements};
}

void CheckpointSave::discard() const noexcept {
  if (!name_.empty()) request_.folder.discard(request_.step, {name_});
}

void CheckpointSave::keep_or_discard_local(bool staged_everywhere, bool healthy_everywhere) noexcept {
  replaces_local_ = staged_everywhere && healthy_everywhere;
  if (!staged_everywhere) {
    request_.local->discard(request_.checkpoint, request_.rank);
  } else if (request_.first_of_host && replaces_local_) {
    request_.local->keep_only(request_.checkpoint);
  }
}

void CheckpointSave::discard(const std::vector<SavedPart>& parts) const noexcept {
  try {
    const std::vector<std::uint64_t> steps = request_.folder.steps();
    const bool has_manifest = std::ranges::find(steps, request_.step) != steps.end();
    // The manifest was renamed before the failure.
    if (has_manifest && request_.folder.manifest(request_.step).checkpoint == request_.checkpoint) return;
    std::vector<std::string> files;
    files.reserve(parts.size());
    for (const SavedPart& part : parts) files.push_back(part.file());
    request_.folder.discard(request_.step, files);
  } catch (const std::exception&) {
    // The next save removes the remains.
  }
}

// --- the manifest

Manifest CheckpointSave::empty_manifest() const {
  Manifest manifest;
  manifest.checkpoint = request_.checkpoint;
  manifest.step = request_.step;
  manifest.ranks = static_cast<std::uint64_t>(request_.ranks);
  manifest.run = request_.run;
  manifest.order = request_.order;
  manifest.tables = records_;
  return manifest;
}

std::vector<std::string> CheckpointSave::commit(const std::vector<SavedPart>& parts) const {
  Manifest manifest = empty_manifest();
  for (const SavedPart& part : parts) part.append_to(manifest);
  for (const TableRecord& table : manifest.tables) {
    if (table.sparse || table.entries() == table.keys) continue;
    throw ProtocolError(fmt::format("table '{}' has {} keys, but the ranks own {} together", table.name,
                                    table.keys, table.entries()));
  }
  request_.folder.require_files(manifest);  // Without locks, another job may have removed them.
  request_.folder.commit(manifest);
  const bool healthy = !request_.expect_finite || manifest.not_finite() == 0;
  std::vector<std::string> warnings;
  if (request_.keep) warnings = withdraw_others(healthy);
  if (!healthy)
    warnings.push_back(
        fmt::format("{}: {}", request_.folder.step_path(request_.step), manifest.not_finite_text()));
  return warnings;
}

bool CheckpointSave::has_files(std::uint64_t other) const {
  try {
    request_.folder.require_files(request_.folder.manifest(other));
    return true;
  } catch (const CheckpointError&) {
    return false;
  }
}

std::vector<std::string> CheckpointSave::withdraw_others(bool healthy) const noexcept {
  // `keep` counts healthy checkpoints among themselves, others among all.
  std::vector<std::string> warnings;
  try {
    std::vector<CheckpointFolder::Saved> others = request_.folder.saved();
    std::ranges::reverse(others);
    std::size_t kept = 1;
    std::size_t kept_healthy = healthy ? 1 : 0;
    for (const CheckpointFolder::Saved& other : others) {
      if (other.at.step == request_.step) continue;
      const bool is_healthy = !request_.expect_finite || other.healthy;
      const bool is_abandoned =
          request_.abandoned && request_.abandoned->has(other.at) && (healthy || !is_healthy);
      if (!is_abandoned && (is_healthy ? kept_healthy : kept) < *request_.keep) {
        const bool is_doubtful = request_.doubtful && request_.doubtful->has(other.at);
        if (!is_doubtful && has_files(other.at.step)) {
          ++kept;
          if (is_healthy) ++kept_healthy;
        }
        continue;
      }
      const bool was_whole = is_abandoned || has_files(other.at.step);
      try {
        request_.folder.withdraw(other.at.step);
      } catch (const CheckpointError& error) {
        warnings.emplace_back(error.what());  // It stays. Others may still be removed.
        continue;
      }
      if (was_whole) continue;
      warnings.push_back(
          fmt::format("{}: is not whole, and is removed: so many newer checkpoints as are kept are there",
                      request_.folder.step_path(other.at.step)));
    }
  } catch (const std::exception& error) {
    // The new checkpoint exists. Older ones that cannot be checked stay.
    try {
      warnings.push_back(fmt::format("older checkpoints stay: {}", error.what()));
    } catch (const std::exception&) {
      // No memory for a warning.
    }
  }
  return warnings;
}

void CheckpointSave::remove_left_overs() const noexcept {
  if (request_.local && request_.first_of_host && replaces_local_) request_.local->clear();
  if (is_first_rank()) request_.folder.remove_left_overs(request_.step, request_.checkpoint);
}

}  // namespace lapse
