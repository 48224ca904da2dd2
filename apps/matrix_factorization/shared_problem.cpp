#include "apps/matrix_factorization/shared_problem.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/file_descriptor.hpp"

namespace lapse::apps {

namespace {

static_assert(std::is_trivially_copyable_v<io::Cell>);

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// In pieces, so that no message holds a whole matrix.
void broadcast(Worker& worker, std::span<std::byte> bytes) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kPieceBytes))) {
    worker.broadcast(bytes.first(std::min(bytes.size(), kPieceBytes)));
  }
}

}  // namespace

FactorizationProblem load_shared_problem(Worker& worker, const DataOptions& options) {
  if (options.train_file != io::kStandardInput && options.test_file != io::kStandardInput) {
    return load_problem(options);
  }
  FactorizationProblem problem;
  const bool reads = worker.index() == 0;
  if (reads) problem = load_problem(options);
  std::array<std::uint64_t, 4> sizes{problem.rows, problem.columns, problem.train.size(),
                                     problem.test.size()};
  worker.broadcast(std::as_writable_bytes(std::span(sizes)));
  problem.train.resize(sizes[2]);
  problem.test.resize(sizes[3]);
  broadcast(worker, std::as_writable_bytes(std::span(problem.train)));
  broadcast(worker, std::as_writable_bytes(std::span(problem.test)));
  problem.row_ids.resize(sizes[0]);
  problem.column_ids.resize(sizes[1]);
  broadcast(worker, std::as_writable_bytes(std::span(problem.row_ids)));
  broadcast(worker, std::as_writable_bytes(std::span(problem.column_ids)));
  if (reads) return problem;
  FactorizationProblem copy =
      make_problem(sizes[0], sizes[1], std::move(problem.train), std::move(problem.test));
  copy.row_ids = std::move(problem.row_ids);
  copy.column_ids = std::move(problem.column_ids);
  return copy;
}

}  // namespace lapse::apps
