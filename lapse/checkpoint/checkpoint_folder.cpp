#include "lapse/checkpoint/checkpoint_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

namespace fs = std::filesystem;

namespace {

using Reason = CheckpointError::Reason;

constexpr std::string_view kStepPrefix = "step-";
constexpr std::string_view kTemporaryManifest = "manifest.json.tmp";

std::optional<std::uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  name.remove_prefix(kStepPrefix.size());
  std::uint64_t step = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), step);
  if (result.ec != std::errc{} || name != fmt::format("{}", step)) return std::nullopt;
  return step;
}

// Only what this library has written is removed.
bool is_own_file(const std::string& name) {
  return name == kTemporaryManifest || name.ends_with(".shard") || name.ends_with(".blob");
}

void remove_file(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) throw system_error(Reason::not_writable, path, "cannot be removed", error.value());
}

}  // namespace

std::string CheckpointFolder::step_path(std::uint64_t step) const {
  return fmt::format("{}/{}{}", path_, kStepPrefix, step);
}

std::string CheckpointFolder::file_path(std::uint64_t step, const std::string& file) const {
  return fmt::format("{}/{}", step_path(step), file);
}

// --- writing

void CheckpointFolder::prepare(std::uint64_t step) const {
  make_folder(path_);
  for (const std::uint64_t earlier : all_steps()) remove_left_overs(earlier);
  make_folder(step_path(step));
}

void CheckpointFolder::remove_left_overs(std::uint64_t step) const {
  std::set<std::string> listed;
  std::error_code error;
  if (fs::exists(file_path(step, std::string(Manifest::kFile)), error)) {
    try {
      for (std::string& file : manifest(step).files()) listed.insert(std::move(file));
    } catch (const CheckpointError&) {
      return;  // What a broken manifest lists is not known: the files may be of use to a person.
    }
  }
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(step_path(step), error)) {
    const std::string name = entry.path().filename().string();
    if (is_own_file(name) && !listed.contains(name)) left.push_back(name);
  }
  for (const std::string& name : left) remove_file(file_path(step, name));
  if (listed.empty()) fs::remove(step_path(step), error);  // Fails where other files are in it.
}

BlobRecord CheckpointFolder::write_blob(std::uint64_t step, const std::string& file,
                                        std::span<const std::byte> bytes) const {
  DurableFile out(file_path(step, file));
  out.reserve(bytes.size());
  out.write(bytes);
  out.finish();
  return {.file = file, .bytes = bytes.size(), .checksum = checksum(bytes)};
}

void CheckpointFolder::commit(const Manifest& manifest) const {
  const std::string folder = step_path(manifest.step);
  sync_folder(folder);
  const std::string temporary = file_path(manifest.step, std::string(kTemporaryManifest));
  const std::string text = manifest.to_text();
  DurableFile out(temporary);
  out.write(std::as_bytes(std::span(text)));
  out.finish();
  const std::string final_path = file_path(manifest.step, std::string(Manifest::kFile));
  if (std::rename(temporary.c_str(), final_path.c_str()) != 0)
    throw system_error(Reason::not_writable, final_path, "cannot be renamed", errno);
  sync_folder(folder);
  try {
    remove_left_overs(manifest.step);  // Of an earlier checkpoint of the step.
  } catch (const CheckpointError&) {
    // The next call of prepare tries again.
  }
}

void CheckpointFolder::discard(std::uint64_t step, const std::vector<std::string>& files) const noexcept {
  std::error_code error;
  for (const std::string& file : files) fs::remove(file_path(step, file), error);
  fs::remove(step_path(step), error);  // Fails where other files are in it.
}

void CheckpointFolder::remove(std::uint64_t step) const {
  const std::vector<std::string> files = manifest(step).files();
  remove_file(file_path(step, std::string(Manifest::kFile)));
  sync_folder(step_path(step));
  discard(step, files);
}

// --- reading

std::vector<std::uint64_t> CheckpointFolder::all_steps() const {
  std::vector<std::uint64_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error))
    if (const auto step = step_of(entry.path().filename().string())) found.push_back(*step);
  if (error && error != std::errc::no_such_file_or_directory)
    throw system_error(Reason::not_readable, path_, "cannot be listed", error.value());
  std::ranges::sort(found);
  return found;
}

std::vector<std::uint64_t> CheckpointFolder::steps() const {
  std::vector<std::uint64_t> found = all_steps();
  std::erase_if(found, [this](std::uint64_t step) {
    std::error_code error;
    return !fs::exists(file_path(step, std::string(Manifest::kFile)), error);
  });
  return found;
}

std::string CheckpointFolder::manifest_text(std::uint64_t step) const {
  const ReadableFile file(file_path(step, std::string(Manifest::kFile)));
  std::string text(file.bytes(), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

Manifest CheckpointFolder::manifest(std::uint64_t step) const {
  const std::string file = file_path(step, std::string(Manifest::kFile));
  Manifest manifest = Manifest::from_text(manifest_text(step), file);
  if (manifest.step != step) {
    throw CheckpointError(Reason::foreign, file,
                          fmt::format("is the manifest of step {}, expected {}", manifest.step, step));
  }
  return manifest;
}

ShardReader CheckpointFolder::open(const Manifest& manifest, const ShardRecord& shard) const {
  return ShardReader(file_path(manifest.step, shard.file), shard, manifest.checkpoint);
}

std::vector<std::byte> CheckpointFolder::read_blob(const Manifest& manifest, const BlobRecord& blob) const {
  const ReadableFile file(file_path(manifest.step, blob.file));
  if (file.bytes() != blob.bytes) {
    throw CheckpointError(file.bytes() < blob.bytes ? Reason::truncated : Reason::foreign, file.path(),
                          fmt::format("has {} bytes, expected {}", file.bytes(), blob.bytes));
  }
  std::vector<std::byte> bytes = file.read(0, blob.bytes);
  if (checksum(bytes) != blob.checksum)
    throw CheckpointError(Reason::damaged, file.path(), "its checksum differs");
  return bytes;
}

void CheckpointFolder::check(const Manifest& manifest, Check check) const {
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
      for (const BlockRecord& block : shard.blocks()) shard.read(block);
    }
  }
  if (manifest.global) read_blob(manifest, *manifest.global);
  for (const BlobRecord& blob : manifest.per_worker) read_blob(manifest, blob);
}

CheckpointFolder::Newest CheckpointFolder::newest(Check check) const {
  Newest result;
  std::vector<std::uint64_t> found = steps();
  std::ranges::reverse(found);
  for (const std::uint64_t step : found) {
    try {
      Manifest one = manifest(step);
      this->check(one, check);
      result.manifest = std::move(one);
      break;
    } catch (const CheckpointError& error) {
      result.problems.emplace_back(error.what());
    }
  }
  return result;
}

}  // namespace lapse
