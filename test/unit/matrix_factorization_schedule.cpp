// Which worker trains which cells when: every cell once, and never two workers on one row or column.
#include "apps/matrix_factorization/schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include "test/support/catch.hpp"

using namespace lapse::apps;
using lapse::io::Cell;

namespace {

FactorizationProblem zipf_problem(std::uint32_t rows, std::uint32_t columns, std::uint64_t cells) {
  DataOptions options;
  options.zipf = {.rows = rows, .columns = columns, .cells = cells};
  options.test_fraction = 0.2;
  return load_problem(options);
}

std::vector<Cell> sorted(std::vector<Cell> cells) {
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return std::tie(a.row, a.column, a.value) < std::tie(b.row, b.column, b.value);
  });
  return cells;
}

std::vector<WorkerCells> distribute(const FactorizationProblem& problem, const BlockSchedule& schedule) {
  std::vector<WorkerCells> workers;
  for (std::size_t w = 0; w < schedule.workers(); ++w) workers.emplace_back(problem.train, schedule, w);
  return workers;
}

}  // namespace

TEST_CASE("an epoch visits every cell once, and in a subepoch no two workers share a row or column") {
  const std::size_t workers = GENERATE(1U, 2U, 3U, 4U, 7U, 40U);
  CAPTURE(workers);
  const FactorizationProblem problem = zipf_problem(30, 12, 2000);
  const BlockSchedule schedule(problem, workers);
  const std::vector<WorkerCells> cells = distribute(problem, schedule);
  std::vector<Cell> visited;
  for (std::size_t subepoch = 0; subepoch < workers; ++subepoch) {
    std::map<std::uint32_t, std::size_t> row_user;
    std::map<std::uint32_t, std::size_t> column_user;
    for (std::size_t w = 0; w < workers; ++w) {
      for (const Cell& cell : cells[w].block(schedule.block(w, subepoch))) {
        visited.push_back(cell);
        CHECK(row_user.try_emplace(cell.row, w).first->second == w);
        CHECK(column_user.try_emplace(cell.column, w).first->second == w);
      }
    }
  }
  CHECK(sorted(visited) == sorted(problem.train));
}

TEST_CASE("a worker's rows are its own in all subepochs") {
  const FactorizationProblem problem = zipf_problem(50, 20, 3000);
  const BlockSchedule schedule(problem, 4);
  std::set<std::uint32_t> seen;
  std::size_t rows = 0;
  for (const WorkerCells& worker : distribute(problem, schedule)) {
    CHECK(std::is_sorted(worker.rows().begin(), worker.rows().end()));
    seen.insert(worker.rows().begin(), worker.rows().end());
    rows += worker.rows().size();
  }
  CHECK(seen.size() == rows);
}

TEST_CASE("the cells of a block are sorted, and its columns are listed once each") {
  const FactorizationProblem problem = zipf_problem(30, 12, 2000);
  const BlockSchedule schedule(problem, 3);
  for (const WorkerCells& worker : distribute(problem, schedule)) {
    CHECK(worker.blocks() == 3);
    std::size_t total = 0;
    for (std::size_t b = 0; b < worker.blocks(); ++b) {
      const auto cells = worker.block(b);
      total += cells.size();
      CHECK(std::is_sorted(cells.begin(), cells.end(), [](const Cell& x, const Cell& y) {
        return std::tie(x.row, x.column) < std::tie(y.row, y.column);
      }));
      std::set<std::uint32_t> columns;
      for (const Cell& cell : cells) columns.insert(cell.column);
      CHECK(std::vector<std::uint32_t>(worker.columns(b).begin(), worker.columns(b).end()) ==
            std::vector<std::uint32_t>(columns.begin(), columns.end()));
    }
    CHECK(total == worker.all().size());
  }
}

TEST_CASE("a worker beyond the schedule has no cells") {
  const FactorizationProblem problem = zipf_problem(30, 12, 200);
  const WorkerCells cells(problem.train, BlockSchedule(problem, 2), 2);
  CHECK(cells.all().empty());
  CHECK(cells.block(1).empty());
  CHECK(cells.rows().empty());
}

TEST_CASE("parts have about equally many cells also when ids are skewed") {
  const std::vector<std::uint32_t> counts{50, 1, 1, 1, 20, 20, 10, 0, 0, 1, 1, 1, 1, 1, 1, 1};
  const BalancedPartition partition(counts, 3);
  std::vector<std::uint64_t> cells(3);
  std::vector<std::size_t> ids(3);
  for (std::uint32_t id = 0; id < counts.size(); ++id) {
    cells.at(partition.part_of(id)) += counts[id];
    ids[partition.part_of(id)] += counts[id] != 0 ? 1 : 0;
  }
  std::sort(cells.begin(), cells.end());
  CHECK(cells == std::vector<std::uint64_t>{30, 30, 50});
  for (std::size_t part = 0; part < 3; ++part) {
    CHECK(partition.ids_with_work(part).size() == ids[part]);
    for (const std::uint32_t id : partition.ids_with_work(part)) CHECK(partition.part_of(id) == part);
  }
}

TEST_CASE("ids without cells and parts without ids are allowed") {
  const BalancedPartition empty({}, 3);
  CHECK(empty.parts() == 3);
  CHECK(empty.ids_with_work(2).empty());
  const std::vector<std::uint32_t> counts{0, 0, 0, 0, 0, 7};
  const BalancedPartition partition(counts, 8);
  for (std::uint32_t id = 0; id < counts.size(); ++id) CHECK(partition.part_of(id) < 8);
  CHECK(partition.ids_with_work(partition.part_of(5)).size() == 1);
}

TEST_CASE("blocks of a Zipf matrix are even as long as no single row or column dominates") {
  const FactorizationProblem problem = zipf_problem(20000, 5000, 200000);
  CHECK(block_imbalance(problem, BlockSchedule(problem, 1)) == 1);
  CHECK(block_imbalance(problem, BlockSchedule(problem, 2)) < 1.02);
  CHECK(block_imbalance(problem, BlockSchedule(problem, 4)) < 1.1);
  const FactorizationProblem single = make_problem(2, 2, {{0, 0, 1}, {1, 1, 1}}, {});
  CHECK(block_imbalance(single, BlockSchedule(single, 2)) == 1);
  const FactorizationProblem row = make_problem(1, 4, {{0, 0, 1}, {0, 1, 1}, {0, 2, 1}, {0, 3, 1}}, {});
  CHECK(block_imbalance(row, BlockSchedule(row, 2)) == 2);
}

TEST_CASE("cells are visited as sorted, or each once in an order that the stream gives") {
  std::vector<Cell> cells(200);
  for (std::uint32_t i = 0; i < cells.size(); ++i) cells[i] = {i / 10, i % 10, static_cast<float>(i)};
  CellVisits in_order(CellOrder::sorted, 1);
  CHECK(in_order.arrange(cells, 5).data() == cells.data());
  CellVisits visits(CellOrder::shuffled, 1);
  const auto copy = [](std::span<const Cell> span) { return std::vector<Cell>(span.begin(), span.end()); };
  const std::vector<Cell> first = copy(visits.arrange(cells, 5));
  CHECK(first != cells);
  CHECK(sorted(first) == cells);
  CHECK(copy(visits.arrange(cells, 6)) != first);
  CHECK(copy(visits.arrange(cells, 5)) == first);
  CHECK(copy(CellVisits(CellOrder::shuffled, 2).arrange(cells, 5)) != first);
  CHECK(visits.arrange({}, 7).empty());
}
