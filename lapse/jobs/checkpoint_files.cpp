#include "lapse/jobs/checkpoint_files.hpp"

#include <algorithm>
#include <map>

namespace lapse {

CheckpointFileMap::CheckpointFileMap(const CheckpointFiles& choice, std::span<const std::int32_t> hosts) {
  const std::uint64_t ranks = hosts.size();
  std::map<std::int32_t, std::uint64_t> file_of_host;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    std::uint64_t file = rank;
    if (choice.kind == CheckpointFiles::Kind::host)
      file = file_of_host.try_emplace(hosts[rank], file_of_host.size()).first->second;
    if (choice.kind == CheckpointFiles::Kind::number)
      file = rank * std::min(ranks, static_cast<std::uint64_t>(choice.files)) / ranks;
    file_of_rank_.push_back(file);
    files_ = std::max(files_, file + 1);
  }
}

std::uint64_t CheckpointFileMap::offset(Rank rank, std::span<const std::uint64_t> bytes_by_rank) const {
  std::uint64_t offset = 0;
  for (std::size_t other = 0; other < rank.index(); ++other)
    if (file_of_rank_[other] == file(rank)) offset += aligned(bytes_by_rank[other]);
  return offset;
}

}  // namespace lapse
