// Which ranks write to which file of a checkpoint, and at which position.
#include "lapse/jobs/checkpoint_files.hpp"

#include <array>

#include "test/support/catch.hpp"

using namespace lapse;

namespace {

std::vector<std::uint64_t> files_of(const CheckpointFileMap& map, std::int32_t ranks) {
  std::vector<std::uint64_t> files;
  for (std::int32_t rank = 0; rank < ranks; ++rank) files.push_back(map.file(Rank(rank)));
  return files;
}

constexpr std::array<std::int32_t, 5> kHosts{7, 3, 7, 3, 9};

}  // namespace

TEST_CASE("Checkpoints have a file of each host, of each rank, or a number of files") {
  using Kind = CheckpointFiles::Kind;
  const CheckpointFileMap of_hosts({Kind::host}, kHosts);
  CHECK(of_hosts.files() == 3);
  CHECK(files_of(of_hosts, 5) == std::vector<std::uint64_t>{0, 1, 0, 1, 2});
  const CheckpointFileMap of_ranks({Kind::rank}, kHosts);
  CHECK(of_ranks.files() == 5);
  CHECK(files_of(of_ranks, 5) == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  const CheckpointFileMap two({Kind::number, 2}, kHosts);
  CHECK(two.files() == 2);
  CHECK(files_of(two, 5) == std::vector<std::uint64_t>{0, 0, 0, 1, 1});
  CHECK(CheckpointFileMap({Kind::number, 1}, kHosts).files() == 1);
  // There are never more files than ranks.
  CHECK(CheckpointFileMap({Kind::number, 100}, kHosts).files() == 5);
}

TEST_CASE("Parts of a file begin at pages behind one another") {
  const CheckpointFileMap map({CheckpointFiles::Kind::host}, kHosts);
  const std::array<std::uint64_t, 5> bytes{1, 4096, 4097, 0, 5};
  CHECK(map.offset(Rank(0), bytes) == 0);
  CHECK(map.offset(Rank(1), bytes) == 0);
  CHECK(map.offset(Rank(2), bytes) == 4096);
  CHECK(map.offset(Rank(3), bytes) == 4096);
  CHECK(map.offset(Rank(4), bytes) == 0);
}
