#include "lapse/jobs/checkpoint_blobs.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace lapse {

namespace {

// All ranks together give at most this many bytes to an exchange.
constexpr std::uint64_t kExchangeBytes = std::uint64_t{16} << 20;

}  // namespace

CheckpointBlobs read_blobs(const CheckpointFolder& folder, const Manifest& manifest) {
  const auto read = [&](const BlobRecord& blob) {
    const std::vector<std::byte> bytes = folder.read_blob(manifest, blob);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  CheckpointBlobs blobs;
  if (manifest.global) blobs.global = read(*manifest.global);
  for (const BlobRecord& blob : manifest.per_worker) blobs.per_worker.push_back(read(blob));
  return blobs;
}

CheckpointBlobs gather_blobs(CheckpointAgreement& agreement, const LocalCheckpoint& checkpoint,
                             const CheckpointFolder& folder, Rank rank, std::int32_t ranks) {
  // Each rank gives the blobs of the parts that it has listed, one after another.
  std::string own;
  const std::vector<std::uint64_t> bytes = agreement.exchange([&] {
    for (const LocalCheckpoint::Part& part : checkpoint.parts) {
      if (part.lister != rank.index()) continue;
      const CheckpointBlobs blobs = read_blobs(folder, part.manifest);
      own += blobs.global;
      for (const std::string& one : blobs.per_worker) own += one;
    }
    return std::uint64_t{own.size()};
  });
  const std::uint64_t piece = kExchangeBytes / static_cast<std::uint64_t>(ranks) + 1;
  std::vector<std::string> all(bytes.size());
  for (std::uint64_t at = 0; at < std::ranges::max(bytes); at += piece) {
    const std::vector<std::string> pieces =
        agreement.exchange([&] { return own.substr(std::min<std::uint64_t>(at, own.size()), piece); });
    for (std::size_t lister = 0; lister < pieces.size(); ++lister) all[lister] += pieces[lister];
  }
  std::vector<std::size_t> used(all.size());
  const auto take = [&](std::size_t lister, const BlobRecord& blob) {
    return all[lister].substr(std::exchange(used[lister], used[lister] + blob.bytes), blob.bytes);
  };
  CheckpointBlobs result;
  for (const auto& [lister, manifest] : checkpoint.parts) {
    if (manifest.global) result.global = take(lister, *manifest.global);
    for (const BlobRecord& blob : manifest.per_worker) result.per_worker.push_back(take(lister, blob));
  }
  return result;
}

}  // namespace lapse
