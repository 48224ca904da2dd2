#include "apps/common/checkpoint_room.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse::apps {

namespace {

// A file that the destructor removes.
class ProbeFile {
 public:
  ProbeFile(const std::string& folder, Rank rank)
      : path_(fmt::format("{}/.probe-{}-{}", folder, rank.value(), getpid())), file_(path_) {}
  ~ProbeFile() { ::unlink(path_.c_str()); }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  void reserve(std::uint64_t bytes) { file_.reserve(bytes); }

 private:
  std::string path_;
  DurableFile file_;
};

std::vector<std::string> folders_of(const CheckpointOptions& options) {
  std::vector<std::string> folders{options.folder};
  if (!options.local_folder.empty()) folders.push_back(options.local_folder);
  return folders;
}

// The bytes of keys, values and states that this rank serves.
std::uint64_t bytes_of(const TableHandle& table) {
  std::uint64_t bytes = 0;
  table.state().store().for_each_own(
      [&](Key key, Slot) { bytes += sizeof(std::uint64_t) + table.state().sizes().content_bytes(key); });
  return bytes;
}

// Returns nullopt if the file system does not report it.
std::optional<std::uint64_t> room_in(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

void require_room_for(const std::string& folder, std::uint64_t bytes) {
  const std::optional<std::uint64_t> room = room_in(folder);
  if (!room || *room >= bytes) return;
  throw CheckpointError(
      CheckpointError::Reason::no_space, folder,
      fmt::format("has room for {} bytes, and a checkpoint of this training has {}", *room, bytes));
}

// A new checkpoint is written while `keep` others exist.
void warn_of_little_room(const CheckpointOptions& options, std::uint64_t bytes) {
  const std::optional<std::uint64_t> room = room_in(options.folder);
  if (!room || bytes == 0 || !options.keep) return;
  const std::size_t there = CheckpointFolder(options.folder).steps().size();
  const std::uint64_t more = *options.keep + 1 - std::min(there, *options.keep);
  if (*room / bytes >= more) return;
  fmt::print(
      stderr,
      "warning: {} has room for {} more checkpoints of {} bytes, and --checkpoint-keep {} needs {}: saving "
      "will fail when it is full\n",
      options.folder, *room / bytes, bytes, *options.keep, more);
}

}  // namespace

void require_writable(ParameterServer& server, const CheckpointOptions& options) {
  CheckpointAgreement(server, "the look at the folders").run([&] {
    for (const std::string& folder : folders_of(options)) {
      make_folder(folder);
      const ProbeFile probe(folder, server.rank());
    }
  });
}

void require_room(ParameterServer& server, const CheckpointOptions& options,
                  std::span<const TableHandle> tables) {
  CheckpointAgreement agreement(server, "the look at the room for checkpoints");
  const std::vector<std::uint64_t> bytes = agreement.exchange([&] {
    std::uint64_t own = 0;
    for (const TableHandle& table : tables) own += bytes_of(table);
    return own;
  });
  const std::uint64_t all = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
  const std::uint64_t own = bytes.at(server.rank().index());
  // Done before any rank reserves bytes, so that free space is not counted twice.
  agreement.run([&] {
    if (server.rank() == Rank(0)) require_room_for(options.folder, all);
  });
  // Keep them until every rank has reserved its bytes.
  std::vector<std::unique_ptr<ProbeFile>> probes;
  agreement.run([&] {
    for (const std::string& folder : folders_of(options)) {
      probes.push_back(std::make_unique<ProbeFile>(folder, server.rank()));
      probes.back()->reserve(own);
    }
  });
  agreement.run([&] { probes.clear(); });
  if (server.rank() == Rank(0)) warn_of_little_room(options, all);
}

}  // namespace lapse::apps
