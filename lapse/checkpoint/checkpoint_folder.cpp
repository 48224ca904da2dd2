#include "lapse/checkpoint/checkpoint_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

namespace fs = std::filesystem;

namespace {

using Reason = CheckpointError::Reason;

constexpr std::string_view kStepPrefix = "step-";

std::optional<std::uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  name.remove_prefix(kStepPrefix.size());
  std::uint64_t step = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), step);
  if (result.ec != std::errc{} || name != fmt::format("{}", step)) return std::nullopt;
  return step;
}

}  // namespace

std::string CheckpointFolder::step_path(std::uint64_t step) const {
  return fmt::format("{}/{}{}", path_, kStepPrefix, step);
}

std::string CheckpointFolder::file_path(std::uint64_t step, const std::string& file) const {
  return fmt::format("{}/{}", step_path(step), file);
}

// --- writing

void CheckpointFolder::make_step(std::uint64_t step, const std::string& file) const {
  make_folder(fs::path(file_path(step, file)).parent_path().string());
}

void CheckpointFolder::remove_left_overs(std::uint64_t step, std::uint64_t checkpoint) const noexcept {
  try {
    try_to_remove_left_overs(step, checkpoint);
  } catch (const std::exception&) {
    // The next save tries again.
  }
}

void CheckpointFolder::try_to_remove_left_overs(std::uint64_t step, std::uint64_t checkpoint) const {
  const std::string kept = checkpoint_file_prefix(checkpoint);
  for (const std::uint64_t one : all_steps())
    remove_left_overs(one, kept, one == step ? Empty::stays : Empty::goes);
}

std::vector<std::string> CheckpointFolder::own_files(std::uint64_t step) const {
  std::vector<std::string> files;
  std::error_code error;
  const auto list = [&](const std::string& folder) {
    for (const std::string& name : folder_entries(step_path(step) + "/" + folder, error))
      if (is_checkpoint_file(name)) files.push_back(folder + name);
  };
  list("");
  for (const std::string& name : folder_entries(step_path(step), error))
    if (is_checkpoint_subfolder(name)) list(name + "/");
  return files;
}

void CheckpointFolder::remove_empty(std::uint64_t step) const noexcept {
  try {
    std::error_code error;
    std::vector<std::string> folders;
    for (const std::string& name : folder_entries(step_path(step), error))
      if (is_checkpoint_subfolder(name)) folders.push_back(file_path(step, name));
    folders.push_back(step_path(step));
    for (const std::string& folder : folders) ::rmdir(folder.c_str());  // Fails if it contains a file.
  } catch (const std::exception&) {
    // Empty folders do no harm.
  }
}

void CheckpointFolder::remove_left_overs(std::uint64_t step, const std::string& kept, Empty empty) const {
  std::set<std::string> listed;
  std::error_code error;
  const bool has_manifest = fs::exists(file_path(step, std::string(Manifest::kFile)), error);
  if (error) return;  // It is not known whether there is one.
  if (has_manifest) {
    try {
      for (std::string& file : manifest(step).files()) listed.insert(std::move(file));
    } catch (const CheckpointError&) {
      return;  // It is not known what a broken manifest lists, and a person may still need the files.
    }
  }
  for (const std::string& file : own_files(step)) {
    const bool is_kept = fs::path(file).filename().string().starts_with(kept);
    if (!is_kept && !listed.contains(file)) fs::remove(file_path(step, file), error);
  }
  if (empty == Empty::goes) remove_empty(step);
}

void CheckpointFolder::sync_name(std::uint64_t step, const std::string& file) const {
  sync_folder(step_path(step));
  if (file.find('/') != std::string::npos)
    sync_folder(fs::path(file_path(step, file)).parent_path().string());
}

void CheckpointFolder::commit(const Manifest& manifest, const std::string& file) const {
  const std::string folder = step_path(manifest.step);
  sync_folder(path_);  // An earlier job may have made the step's folder and ended before this.
  sync_folder(folder);
  const std::string temporary = file_path(manifest.step, file + std::string(kTemporaryExtension));
  const std::string text = manifest.to_text();
  try {
    DurableFile out(temporary);
    out.write(std::as_bytes(std::span(text)));
    out.finish();
    const std::string final_path = file_path(manifest.step, file);
    if (std::rename(temporary.c_str(), final_path.c_str()) != 0)
      throw system_error(Reason::not_writable, final_path, "cannot be renamed", errno);
  } catch (const CheckpointError&) {
    std::error_code error;
    fs::remove(temporary, error);
    throw;
  }
  sync_folder(folder);
}

void CheckpointFolder::discard(std::uint64_t step, const std::vector<std::string>& files) const noexcept {
  std::error_code error;
  for (const std::string& file : files) fs::remove(file_path(step, file), error);
  remove_empty(step);
}

void CheckpointFolder::withdraw(std::uint64_t step) const {
  const std::string file = file_path(step, std::string(Manifest::kFile));
  std::error_code error;
  fs::remove(file, error);
  if (error) throw system_error(Reason::not_writable, file, "cannot be removed", error.value());
  sync_folder(step_path(step));
}

void CheckpointFolder::remove(std::uint64_t step) const {
  const std::vector<std::string> files = manifest(step).files();
  withdraw(step);
  discard(step, files);
}

// --- reading

std::vector<std::uint64_t> CheckpointFolder::all_steps() const {
  std::vector<std::uint64_t> found;
  std::error_code error;
  for (const std::string& name : folder_entries(path_, error))
    if (const auto step = step_of(name)) found.push_back(*step);
  if (error && error != std::errc::no_such_file_or_directory)
    throw system_error(Reason::not_readable, path_, "cannot be listed", error.value());
  std::ranges::sort(found);
  return found;
}

std::vector<std::uint64_t> CheckpointFolder::steps() const {
  std::vector<std::uint64_t> found = all_steps();
  std::erase_if(found, [this](std::uint64_t step) {
    std::error_code error;
    const bool has_manifest = fs::exists(file_path(step, std::string(Manifest::kFile)), error);
    return !has_manifest && !error;  // If it is not known, a read reports the problem.
  });
  return found;
}

Manifest CheckpointFolder::manifest(std::uint64_t step, const std::string& name) const {
  const std::string file = file_path(step, name);
  const ReadableFile in(file);
  std::string text(in.bytes(), '\0');
  in.read(0, std::as_writable_bytes(std::span(text)));
  Manifest manifest = Manifest::from_text(text, file);
  if (manifest.step != step) {
    throw CheckpointError(Reason::foreign, file,
                          fmt::format("is the manifest of step {}, expected {}", manifest.step, step));
  }
  return manifest;
}

std::vector<CheckpointFolder::Saved> CheckpointFolder::saved() const {
  std::vector<Saved> found;
  std::uint64_t order = 0;  // the largest so far
  for (const std::uint64_t step : steps()) {
    try {
      const Manifest manifest = this->manifest(step);
      found.push_back({.at = manifest.saved_at(), .healthy = manifest.not_finite() == 0});
      order = std::max(order, found.back().at.order);
    } catch (const CheckpointError& error) {
      found.push_back({.at = {.order = order, .step = step}, .problem = error});
    }
  }
  std::ranges::sort(found, {}, &Saved::at);
  return found;
}

SavedAt CheckpointFolder::latest() const {
  SavedAt latest;
  for (const Saved& one : saved())
    if (!one.problem) latest = one.at;
  return latest;
}

std::uint64_t CheckpointFolder::next_order(std::uint64_t last) {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto now = std::chrono::nanoseconds(since_1970).count();
  return std::max(last + 1, static_cast<std::uint64_t>(now));
}

void CheckpointFolder::require_files(const Manifest& manifest) const {
  std::map<std::string, std::uint64_t> ends;
  const auto add = [&](const std::string& file, std::uint64_t end) {
    if (!file.empty()) ends[file] = std::max(ends[file], end);
  };
  for (const TableRecord& table : manifest.tables)
    for (const ShardRecord& shard : table.shards) add(shard.file, shard.offset + shard.bytes);
  if (manifest.global) add(manifest.global->file, manifest.global->offset + manifest.global->bytes);
  for (const BlobRecord& blob : manifest.per_worker) add(blob.file, blob.offset + blob.bytes);
  for (const auto& [name, end] : ends) {
    // Opens the file: a network file system may answer a query of the size from its cache.
    const ReadableFile file(file_path(manifest.step, name));
    if (file.bytes() < end)
      throw CheckpointError(Reason::truncated, file.path(),
                            fmt::format("has {} bytes, expected {}", file.bytes(), end));
  }
}

ShardReader CheckpointFolder::open(const Manifest& manifest, const ShardRecord& shard) const {
  return ShardReader(file_path(manifest.step, shard.file), shard, manifest.checkpoint);
}

std::vector<std::byte> CheckpointFolder::read_blob(const Manifest& manifest, const BlobRecord& blob) const {
  const ReadableFile file(file_path(manifest.step, blob.file));
  std::vector<std::byte> bytes = file.read(blob.offset, blob.bytes);
  if (checksum(bytes) != blob.checksum)
    throw CheckpointError(
        Reason::damaged, file.path(),
        fmt::format("the checksum of the {} bytes at byte {} differs", blob.bytes, blob.offset));
  return bytes;
}

void CheckpointFolder::check(const Manifest& manifest, Check check) const {
  ShardBlock block;
  for (const TableRecord& table : manifest.tables) {
    for (const ShardRecord& record : table.shards) {
      const ShardReader shard = open(manifest, record);
      const ShardHeader& header = shard.header();
      if (header.table != table.name || header.element != table.element || header.length != table.length ||
          header.state_elements != table.state_elements) {
        throw CheckpointError(Reason::foreign, shard.path(),
                              fmt::format("is a shard of table '{}' of another kind", header.table));
      }
      if (check == Check::structure) continue;
      for (const BlockRecord& record_of_block : shard.blocks()) shard.read(record_of_block, block);
    }
  }
  if (manifest.global) read_blob(manifest, *manifest.global);
  for (const BlobRecord& blob : manifest.per_worker) read_blob(manifest, blob);
}

CheckpointFolder::Newest CheckpointFolder::newest(Check check, std::span<const std::uint64_t> except,
                                                  Prefer prefer) const {
  Newest result;
  std::optional<Newest> ill;  // the newest that is not healthy, until a healthy one passes
  std::vector<Saved> found = saved();
  std::ranges::reverse(found);
  for (const Saved& one : found) {
    if (std::ranges::find(except, one.at.step) != except.end()) continue;
    if (one.problem && ill) ill->problems.emplace_back(one.problem->what());
    if (result.manifest) {
      if (one.problem) result.problems.emplace_back(one.problem->what());
      continue;
    }
    try {
      Manifest manifest = this->manifest(one.at.step);
      this->check(manifest, check);
      if (prefer == Prefer::healthy && manifest.not_finite() != 0) {
        std::string problem = fmt::format("{}: {}", file_path(one.at.step, std::string(Manifest::kFile)),
                                          manifest.not_finite_text());
        if (!ill) ill = Newest{std::move(manifest), result.problems};
        result.problems.push_back(std::move(problem));
        continue;
      }
      result.manifest = std::move(manifest);
    } catch (const CheckpointError& error) {
      if (may_be_whole(error)) throw;
      result.problems.emplace_back(error.what());
    }
  }
  return result.manifest || !ill ? result : *std::move(ill);
}

}  // namespace lapse
