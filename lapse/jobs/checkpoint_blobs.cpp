#include "lapse/jobs/checkpoint_blobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

namespace {

// An exchange holds at most 2 GiB, including a little for the archive.
constexpr std::uint64_t kBlobPieceBytes = std::uint64_t{16} << 20;

// A blob of one rank's part, and its destination.
struct ListedBlob {
  std::size_t lister = 0;
  BlobRecord record;
  std::string* to = nullptr;
  std::uint64_t begin = 0;  // position in the concatenation of all blobs
};

// Calls f(blob, offset in it, bytes) for each part of a blob in the piece that begins at `begin`.
template <class F>
void for_each_in_piece(const std::vector<ListedBlob>& blobs, std::uint64_t begin, F&& f) {
  for (const ListedBlob& blob : blobs) {
    const std::uint64_t first = std::max(blob.begin, begin);
    const std::uint64_t last = std::min(blob.begin + blob.record.bytes, begin + kBlobPieceBytes);
    if (first < last) f(blob, first - blob.begin, last - first);
  }
}

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
                             const CheckpointFolder& folder, Rank rank) {
  CheckpointBlobs result;
  std::size_t workers = 0;
  for (const LocalCheckpoint::Part& part : checkpoint.parts) workers += part.manifest.per_worker.size();
  result.per_worker.resize(workers);
  std::vector<ListedBlob> blobs;
  std::uint64_t all = 0;
  const auto add = [&](std::size_t lister, const BlobRecord& record, std::string& to) {
    blobs.push_back({.lister = lister, .record = record, .to = &to, .begin = all});
    all += record.bytes;
  };
  std::size_t worker = 0;
  for (const LocalCheckpoint::Part& part : checkpoint.parts) {
    if (part.manifest.global) add(part.lister, *part.manifest.global, result.global);
    for (const BlobRecord& blob : part.manifest.per_worker)
      add(part.lister, blob, result.per_worker[worker++]);
  }
  for (std::uint64_t begin = 0; begin < all; begin += kBlobPieceBytes) {
    const std::vector<std::string> pieces = agreement.exchange([&] {
      std::string own;
      for_each_in_piece(blobs, begin, [&](const ListedBlob& blob, std::uint64_t at, std::uint64_t bytes) {
        if (blob.lister != rank.index()) return;
        const ReadableFile file(folder.file_path(checkpoint.step(), blob.record.file));
        const std::size_t before = own.size();
        own.resize(before + bytes);
        file.read(blob.record.offset + at, std::as_writable_bytes(std::span(own).subspan(before)));
      });
      return own;
    });
    std::vector<std::size_t> used(pieces.size());
    for_each_in_piece(blobs, begin, [&](const ListedBlob& blob, std::uint64_t, std::uint64_t bytes) {
      blob.to->append(pieces[blob.lister], used[blob.lister], bytes);
      used[blob.lister] += bytes;
    });
  }
  agreement.run([&] {
    for (const ListedBlob& blob : blobs) {
      if (checksum(std::as_bytes(std::span(*blob.to))) == blob.record.checksum) continue;
      throw CheckpointError(CheckpointError::Reason::damaged,
                            folder.file_path(checkpoint.step(), blob.record.file),
                            fmt::format("the checksum of the {} bytes at byte {} differs", blob.record.bytes,
                                        blob.record.offset));
    }
  });
  return result;
}

}  // namespace lapse
