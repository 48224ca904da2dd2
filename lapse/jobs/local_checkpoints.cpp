#include "lapse/jobs/local_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

namespace {

constexpr std::string_view kPartExtension = ".part.json";

std::string part_name(std::uint64_t checkpoint, Rank rank) {
  return fmt::format("{}r{}{}", checkpoint_file_prefix(checkpoint), rank.value(), kPartExtension);
}

// Returns the rank of "0123456789abcdef-r7.part.json".
std::optional<std::uint64_t> rank_of_part(std::string_view name) {
  const std::size_t at = name.find("-r");
  if (at == std::string_view::npos || !name.ends_with(kPartExtension)) return std::nullopt;
  std::uint64_t rank = 0;
  const char* const end = name.data() + name.size() - kPartExtension.size();
  const auto result = std::from_chars(name.data() + at + 2, end, rank);
  return result.ec == std::errc{} && result.ptr == end ? std::optional(rank) : std::nullopt;
}

}  // namespace

std::string LocalCheckpoints::file_name(std::uint64_t checkpoint, Rank rank) {
  return fmt::format("{}r{}{}", checkpoint_file_prefix(checkpoint), rank.value(), kCheckpointFileExtension);
}

void LocalCheckpoints::announce(const Manifest& part, Rank rank) const {
  folder_.commit(part, part_name(part.checkpoint, rank));
}

// --- removing

template <class Condition>
void LocalCheckpoints::remove_if(const Condition& condition) const noexcept {
  try {
    std::error_code error;
    for (const std::uint64_t step : folder_.all_steps()) {
      std::vector<std::string> names = folder_entries(folder_.step_path(step), error);
      // Manifests come before their files: a part without its file would be a damaged one.
      std::ranges::sort(names);
      std::vector<std::string> files;
      for (const std::string& name : names) {
        const bool is_own = is_checkpoint_file(name) || name.ends_with(kPartExtension);
        if (is_own && condition(name, names)) files.push_back(name);
      }
      folder_.discard(step, files);
    }
  } catch (const std::exception&) {
    // The next checkpoint tries again.
  }
}

void LocalCheckpoints::discard(std::uint64_t checkpoint, Rank rank) const noexcept {
  remove_if([&](const std::string& name, const std::vector<std::string>&) {
    return name == part_name(checkpoint, rank) || name == file_name(checkpoint, rank);
  });
}

void LocalCheckpoints::remove_left_overs() const noexcept {
  remove_if([](const std::string& name, const std::vector<std::string>& names) {
    const std::string part = name.substr(0, name.find('.')) + std::string(kPartExtension);
    return !std::ranges::binary_search(names, part);
  });
}

void LocalCheckpoints::keep_only(std::uint64_t checkpoint) const noexcept {
  remove_if([&](const std::string& name, const std::vector<std::string>&) {
    return !name.starts_with(checkpoint_file_prefix(checkpoint));
  });
}

void LocalCheckpoints::clear() const noexcept {
  remove_if([](const std::string&, const std::vector<std::string>&) { return true; });
}

// --- reading

LocalCheckpoints::Listing LocalCheckpoints::list(std::uint64_t run, const std::string& all_ranks) const {
  Listing listing;
  for (const std::uint64_t step : folder_.all_steps()) {
    std::error_code error;
    const std::vector<std::string> names = folder_entries(folder_.step_path(step), error);
    if (error) {
      throw system_error(CheckpointError::Reason::not_readable, folder_.step_path(step), "cannot be listed",
                         error.value());
    }
    for (const std::string& name : names) {
      const std::optional<std::uint64_t> rank = rank_of_part(name);
      if (!rank) continue;
      Manifest part;
      try {
        part = folder_.manifest(step, name);
        if (*rank >= part.ranks) {
          throw CheckpointError(CheckpointError::Reason::foreign, folder_.file_path(step, name),
                                fmt::format("is no part of a checkpoint of {} ranks", part.ranks));
        }
        if (part.run == run) folder_.check(part, CheckpointFolder::Check::structure);
      } catch (const CheckpointError& error_of_part) {
        if (may_be_whole(error_of_part)) throw;
        listing.problems.emplace_back(error_of_part.what());
        continue;
      }
      if (part.run != run) {
        throw CheckpointError(
            CheckpointError::Reason::foreign, folder_.path(),
            fmt::format("has a part of step {} that is not of the run in {}, and may be in no other folder: "
                        "let its run continue first, or remove this folder, or choose another local folder",
                        step, all_ranks));
      }
      listing.ranks.push_back(*rank);
      listing.manifests.push_back(part.to_text());
    }
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

std::vector<LocalCheckpoint> complete_checkpoints(const std::vector<LocalCheckpoints::Listing>& listings,
                                                  std::optional<std::uint64_t> step,
                                                  std::vector<IncompleteCheckpoint>& incomplete) {
  std::map<std::pair<SavedAt, std::uint64_t>, std::map<std::uint64_t, LocalCheckpoint::Part>> found;
  for (std::size_t lister = 0; lister < listings.size(); ++lister) {
    const LocalCheckpoints::Listing& listing = listings[lister];
    for (std::size_t i = 0; i < listing.ranks.size(); ++i) {
      Manifest part = Manifest::from_text(listing.manifests[i], "a local part");
      if (step && part.step != *step) continue;
      found[{part.saved_at(), part.checkpoint}].try_emplace(listing.ranks[i],
                                                            LocalCheckpoint::Part{lister, std::move(part)});
    }
  }
  std::vector<LocalCheckpoint> complete;
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    auto& parts = one->second;
    const Manifest& first = parts.begin()->second.manifest;
    if (parts.size() != first.ranks) {
      incomplete.push_back(
          {.saved_at = first.saved_at(),
           .problem = fmt::format("step {} has {} of its {} parts in the local folders of these hosts",
                                  first.step, parts.size(), first.ranks)});
      continue;
    }
    LocalCheckpoint& checkpoint = complete.emplace_back();
    for (auto& [rank, part] : parts) checkpoint.parts.push_back(std::move(part));
  }
  return complete;
}

}  // namespace lapse
