#include "lapse/jobs/local_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <utility>

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

// Returns the rank of "0123456789abcdef-r7.part.json".
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

void LocalCheckpoints::mark_copied(std::uint64_t checkpoint) const noexcept {
  const std::string temporary = copied_file() + std::string(kTemporaryExtension);
  try {
    const std::string text = fmt::format("{:016x}\n", checkpoint);
    DurableFile file(temporary);
    file.write(std::as_bytes(std::span(text)));
    file.finish();
    std::error_code error;
    fs::rename(temporary, copied_file(), error);
  } catch (const std::exception&) {
    // Then another run refuses the folder, and this one continues.
  }
}

std::optional<std::uint64_t> LocalCheckpoints::copied() const {
  try {
    const ReadableFile file(copied_file());
    std::array<char, 16> digits{};
    file.read(0, std::as_writable_bytes(std::span(digits)));
    std::uint64_t number = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    if (result.ec == std::errc{} && result.ptr == digits.data() + digits.size()) return number;
  } catch (const CheckpointError&) {
    // There is none yet, or it is invalid.
  }
  return std::nullopt;
}

void LocalCheckpoints::remove_others(std::uint64_t checkpoint) const noexcept {
  remove_unless([&](std::uint64_t, std::vector<std::string> names) {
    std::erase_if(names, [&](const std::string& name) {
      return !name.starts_with(checkpoint_file_prefix(checkpoint));
    });
    return names;
  });
}

void LocalCheckpoints::remove_useless(std::uint64_t run, std::uint64_t order) const noexcept {
  remove_unless([&](std::uint64_t step, const std::vector<std::string>& names) {
    std::vector<std::string> kept;
    for (const std::string& name : names) {
      if (!name.ends_with(kPartExtension) || is_older(step, name, run, order)) continue;
      const std::string begin = name.substr(0, name.size() - kPartExtension.size());
      kept.push_back(name);
      kept.push_back(begin + std::string(kCheckpointFileExtension));
    }
    return kept;
  });
}

bool LocalCheckpoints::is_older(std::uint64_t step, const std::string& name, std::uint64_t run,
                                std::uint64_t order) const {
  try {
    const Manifest part = Manifest::from_text(part_text(step, name), folder_.file_path(step, name));
    return part.run == run && part.order < order;
  } catch (const CheckpointError&) {
    return false;  // Its run and age are not known.
  }
}

template <class KeptNames>
void LocalCheckpoints::remove_unless(const KeptNames& kept_names) const noexcept {
  try {
    std::error_code error;
    for (const std::uint64_t step : folder_.all_steps()) {
      // Removes manifests first: then a part without its file is none, not a damaged one.
      std::vector<std::string> files;
      const std::vector<std::string> names = folder_entries(folder_.step_path(step), error);
      const std::vector<std::string> kept = kept_names(step, names);
      for (const std::string& name : names) {
        if (std::ranges::find(kept, name) != kept.end()) continue;
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

// --- reading

std::string LocalCheckpoints::part_text(std::uint64_t step, const std::string& name) const {
  const ReadableFile in(folder_.file_path(step, name));
  std::string text(in.bytes(), '\0');
  in.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

void LocalCheckpoints::list_part(std::uint64_t step, const std::string& name, std::uint64_t rank,
                                 std::uint64_t run, Listing& listing) const {
  const std::string file = folder_.file_path(step, name);
  std::string text;
  try {
    text = part_text(step, name);
  } catch (const CheckpointError& error) {
    if (error.reason() == CheckpointError::Reason::not_readable) listing.refused.emplace_back(error.what());
    throw;
  }
  const Manifest part = Manifest::from_text(text, file);
  if (part.step != step || rank >= part.ranks)
    throw CheckpointError(CheckpointError::Reason::foreign, file, "is no part of this step");
  if (part.run != run) {
    std::string other =
        fmt::format("{}: is of another run, with another folder of all ranks", folder_.step_path(step));
    if (std::ranges::find(listing.others, other) == listing.others.end())
      listing.others.push_back(std::move(other));
    if (part.checkpoint != copied()) listing.only_here.push_back(step);
    return;
  }
  folder_.check(part, CheckpointFolder::Check::structure);
  listing.ranks.push_back(rank);
  listing.manifests.push_back(std::move(text));
}

LocalCheckpoints::Listing LocalCheckpoints::list(std::uint64_t run) const {
  Listing listing;
  const auto attempt = [&](const auto& f) {
    try {
      f();
    } catch (const CheckpointError& error) {
      listing.problems.emplace_back(error.what());
      listing.unreadable |= error.reason() == CheckpointError::Reason::not_readable;
    }
  };
  std::vector<std::uint64_t> steps;
  attempt([&] { steps = folder_.all_steps(); });
  for (const std::uint64_t step : steps) {
    std::error_code error;
    for (const std::string& name : folder_entries(folder_.step_path(step), error))
      if (const auto rank = rank_of_part(name)) attempt([&] { list_part(step, name, *rank, run, listing); });
    if (!error) continue;
    attempt([&] {
      throw system_error(CheckpointError::Reason::not_readable, folder_.step_path(step), "cannot be listed",
                         error.value());
    });
  }
  return listing;
}

void LocalCheckpoints::refuse_others(const Listing& listing, const std::string& all_ranks) const {
  if (!listing.refused.empty()) {
    throw CheckpointError(
        CheckpointError::Reason::not_readable, folder_.path(),
        fmt::format("may have a part of another run than that in {}, which may be in no other folder: {}; "
                    "choose another local folder, or remove what cannot be read",
                    all_ranks, fmt::join(listing.refused, "; ")));
  }
  if (listing.only_here.empty()) return;
  throw CheckpointError(
      CheckpointError::Reason::foreign, folder_.path(),
      fmt::format(
          "has a part of step {} that is not of the run in {}, and may be in no other folder: choose "
          "the folder of its run, or another local folder (best one for each run), or remove this one "
          "with what it has",
          std::ranges::max(listing.only_here), all_ranks));
}

bool LocalCheckpoint::healthy() const {
  return std::ranges::all_of(parts, [](const Part& part) { return part.manifest.not_finite() == 0; });
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
                                            const WantedLocal& wanted, std::vector<std::string>& problems) {
  using Place = WantedLocal::Place;
  const SavedAt& latest = wanted.latest;
  std::map<Place, std::map<std::uint64_t, LocalCheckpoint::Part>> found;
  for (std::size_t lister = 0; lister < listings.size(); ++lister) {
    const LocalCheckpoints::Listing& listing = listings[lister];
    for (std::size_t i = 0; i < listing.ranks.size(); ++i) {
      Manifest part = Manifest::from_text(listing.manifests[i], "a local part");
      if (wanted.step && part.step != *wanted.step) continue;
      const Place place{part.saved_at(), part.checkpoint};
      if (wanted.before && place >= *wanted.before) continue;
      found[place].try_emplace(listing.ranks[i], LocalCheckpoint::Part{lister, std::move(part)});
    }
  }
  std::optional<LocalCheckpoint> ill;  // the newest that is complete and not healthy
  std::size_t problems_before = 0;     // number of problems of newer ones than that
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    auto& parts = one->second;
    const auto& [order, of_step] = one->first.first;
    if (order < latest.order) {
      if (of_step >= latest.step)
        problems.push_back(
            fmt::format("step {} in the local folders of these hosts was abandoned: step {} in the folder of "
                        "all ranks was saved later",
                        of_step, latest.step));
      continue;
    }
    const std::uint64_t ranks = parts.begin()->second.manifest.ranks;
    if (parts.size() == ranks) {
      LocalCheckpoint checkpoint;
      for (auto& [rank, part] : parts) checkpoint.parts.push_back(std::move(part));
      if (!wanted.prefers_healthy || checkpoint.healthy()) return checkpoint;
      if (!ill) {
        ill = std::move(checkpoint);
        problems_before = problems.size();
      }
      problems.push_back(fmt::format(
          "step {} in the local folders of these hosts has numbers that are not finite", of_step));
      continue;
    }
    problems.push_back(fmt::format("step {} has {} of its {} parts in the local folders of these hosts",
                                   of_step, parts.size(), ranks));
  }
  if (ill) problems.resize(problems_before);
  return ill;
}

}  // namespace lapse
