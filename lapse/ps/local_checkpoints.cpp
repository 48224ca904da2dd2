#include "lapse/ps/local_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPartExtension = ".part.json";

std::string part_name(std::uint64_t checkpoint, std::uint64_t rank) {
  return fmt::format("{}r{}{}", checkpoint_file_prefix(checkpoint), rank, kPartExtension);
}

// The rank of "0123456789abcdef-r7.part.json".
std::optional<std::uint64_t> rank_of_part(std::string_view name) {
  const std::size_t at = name.find("-r");
  if (at == std::string_view::npos || !name.ends_with(kPartExtension)) return std::nullopt;
  const std::string_view digits = name.substr(at + 2, name.size() - at - 2 - kPartExtension.size());
  std::uint64_t rank = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  if (result.ec != std::errc{} || result.ptr != digits.data() + digits.size()) return std::nullopt;
  return rank;
}

}  // namespace

std::string LocalCheckpoints::file_name(std::uint64_t checkpoint, Rank rank) {
  return fmt::format("{}r{}{}", checkpoint_file_prefix(checkpoint), rank.value(), kCheckpointFileExtension);
}

void LocalCheckpoints::announce(const Manifest& part, Rank rank) const {
  folder_.commit(part, part_name(part.checkpoint, rank.index()));
}

void LocalCheckpoints::remove_others(std::optional<std::uint64_t> checkpoint) const noexcept {
  const auto is_kept = [&](const std::string& name, const std::vector<std::string>&) {
    return checkpoint && name.starts_with(checkpoint_file_prefix(*checkpoint));
  };
  remove_unless(is_kept);
}

void LocalCheckpoints::remove_unfinished() const noexcept {
  const auto is_kept = [](const std::string& name, const std::vector<std::string>& names) {
    if (name.ends_with(kPartExtension)) return true;
    if (!name.ends_with(kCheckpointFileExtension)) return false;
    const std::string begin = name.substr(0, name.size() - kCheckpointFileExtension.size());
    return std::ranges::find(names, begin + std::string(kPartExtension)) != names.end();
  };
  remove_unless(is_kept);
}

template <class IsKept>
void LocalCheckpoints::remove_unless(const IsKept& is_kept) const noexcept {
  try {
    std::error_code error;
    for (const std::uint64_t step : folder_.all_steps()) {
      // Manifests first: a part without its file is none, and not a damaged one.
      std::vector<std::string> files;
      const std::vector<std::string> names = folder_entries(folder_.step_path(step), error);
      for (const std::string& name : names) {
        if (is_kept(name, names)) continue;
        if (name.ends_with(kPartExtension)) fs::remove(folder_.file_path(step, name), error);
        if (is_checkpoint_file(name)) files.push_back(name);
      }
      folder_.discard(step, files);
    }
  } catch (const std::exception&) {
    // The next checkpoint tries again.
  }
}

void LocalCheckpoints::discard(std::uint64_t step, std::uint64_t checkpoint, Rank rank) const noexcept {
  try {
    folder_.discard(step, {part_name(checkpoint, rank.index()), file_name(checkpoint, rank)});
  } catch (const std::exception&) {
    // The next checkpoint tries again.
  }
}

LocalCheckpoints::Listing LocalCheckpoints::list(std::uint64_t run) const {
  Listing listing;
  std::vector<std::uint64_t> steps;
  try {
    steps = folder_.all_steps();
  } catch (const CheckpointError& error) {
    listing.problems.emplace_back(error.what());
  }
  for (const std::uint64_t step : steps) {
    std::error_code error;
    bool has_others = false;
    for (const std::string& name : folder_entries(folder_.step_path(step), error)) {
      const auto rank = rank_of_part(name);
      if (!rank) continue;
      try {
        const std::string file = folder_.file_path(step, name);
        const ReadableFile in(file);
        std::string text(in.bytes(), '\0');
        in.read(0, std::as_writable_bytes(std::span(text)));
        const Manifest part = Manifest::from_text(text, file);
        if (part.step != step || *rank >= part.ranks)
          throw CheckpointError(CheckpointError::Reason::foreign, file, "is no part of this step");
        if (part.run != run) {
          has_others = true;
          continue;
        }
        folder_.check(part, CheckpointFolder::Check::structure);
        listing.ranks.push_back(*rank);
        listing.manifests.push_back(text);
      } catch (const CheckpointError& problem) {
        listing.problems.emplace_back(problem.what());
      }
    }
    if (error)
      listing.problems.push_back(
          fmt::format("{}: cannot be listed: {}", folder_.step_path(step), error.message()));
    if (has_others)
      listing.problems.push_back(
          fmt::format("{}: is of another run, with another folder of all ranks", folder_.step_path(step)));
  }
  return listing;
}

Manifest LocalCheckpoint::manifest(std::optional<std::size_t> lister) const {
  Manifest all = parts.front().manifest;
  all.global.reset();
  all.per_worker.clear();
  all.clocks.clear();
  for (TableRecord& table : all.tables) table.shards.clear();
  for (const Part& part : parts) {
    if (lister && part.lister != *lister) continue;
    const Manifest& one = part.manifest;
    for (std::size_t table = 0; table < one.tables.size() && table < all.tables.size(); ++table) {
      std::vector<ShardRecord>& shards = all.tables[table].shards;
      shards.insert(shards.end(), one.tables[table].shards.begin(), one.tables[table].shards.end());
    }
    if (one.global) all.global = one.global;
    all.per_worker.insert(all.per_worker.end(), one.per_worker.begin(), one.per_worker.end());
    all.clocks.insert(all.clocks.end(), one.clocks.begin(), one.clocks.end());
  }
  return all;
}

std::optional<LocalCheckpoint> newest_local(const std::vector<LocalCheckpoints::Listing>& listings,
                                            std::optional<std::uint64_t> step,
                                            const CheckpointFolder::Latest& latest,
                                            std::vector<std::string>& problems) {
  using Place = std::array<std::uint64_t, 3>;  // step, order, number
  std::map<Place, std::map<std::uint64_t, LocalCheckpoint::Part>> found;
  for (std::size_t lister = 0; lister < listings.size(); ++lister) {
    const LocalCheckpoints::Listing& listing = listings[lister];
    problems.insert(problems.end(), listing.problems.begin(), listing.problems.end());
    for (std::size_t i = 0; i < listing.ranks.size(); ++i) {
      Manifest part = Manifest::from_text(listing.manifests[i], "a local part");
      if (step && part.step != *step) continue;
      const Place place{part.step, part.order, part.checkpoint};
      found[place].try_emplace(listing.ranks[i], LocalCheckpoint::Part{lister, std::move(part)});
    }
  }
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    auto& parts = one->second;
    if (parts.begin()->second.manifest.order < latest.order) {
      if (one->first[0] >= latest.step)
        problems.push_back(
            fmt::format("step {} in the local folders of these hosts was abandoned: step {} in the folder of "
                        "all ranks was saved later",
                        one->first[0], latest.step));
      continue;
    }
    const std::uint64_t ranks = parts.begin()->second.manifest.ranks;
    if (parts.size() == ranks) {
      LocalCheckpoint checkpoint;
      for (auto& [rank, part] : parts) checkpoint.parts.push_back(std::move(part));
      return checkpoint;
    }
    problems.push_back(fmt::format("step {} has {} of its {} parts in the local folders of these hosts",
                                   one->first[0], parts.size(), ranks));
  }
  return std::nullopt;
}

}  // namespace lapse
