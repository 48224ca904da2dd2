// Rows and columns with get, inc and clock, over MPI.
#include "lapse/ps/row_table.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/index_out_of_range.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using lapse::Consistency;
using lapse::Key;
using lapse::RowTable;
using lapse::Worker;
using lapse::test::expect;

TEST_CASE("rows: a worker reads its own increments at once, and those of the last clock of all others") {
  const int kind = GENERATE(0, 1, 2);
  const Consistency consistency = kind == 0   ? Consistency::bsp
                                  : kind == 1 ? Consistency::cap(1)
                                              : Consistency::essp(1);
  const bool keeps_reads = GENERATE(false, true);
  const std::size_t increments = GENERATE(std::size_t{0}, std::size_t{3}, std::size_t{100});
  constexpr std::uint64_t kRows = 4;
  constexpr std::uint32_t kColumns = 5;
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto table =
      server.create_table<std::int64_t>({.keys = kRows, .length = kColumns, .consistency = consistency});
  server.run_workers(2, [&](Worker& worker) {
    RowTable<std::int64_t> rows(worker, table, {.keeps_reads = keeps_reads, .max_increments = increments});
    const auto all = static_cast<std::int64_t>(worker.count());
    const std::int64_t behind = *consistency.staleness();
    for (std::int64_t clock = 0; clock < 12; ++clock) {
      for (std::uint64_t row = 0; row < kRows; ++row) {
        for (std::uint32_t column = 0; column < kColumns; ++column) {
          const std::int64_t before = rows.get(Key(row), column);
          rows.inc(Key(row), column, 2);
          const std::int64_t after = rows.get(Key(row), column);
          expect(after >= before + 2, "the own increment");
          const std::int64_t others = std::max<std::int64_t>(0, clock - behind) * (all - 1);
          expect(after >= 2 * (clock + 1 + others), "increments of earlier clocks");
        }
      }
      std::vector<std::int64_t> row(kColumns);
      rows.get_row(Key(0), row);
      for (const std::int64_t value : row) expect(value >= 2 * (clock + 1), "a whole row");
      rows.clock();
    }
    rows.flush();
    worker.sync_barrier();
    for (std::uint64_t row = 0; row < kRows; ++row)
      expect(rows.get(Key(row), 0) == 24 * all, "all increments");
  });
}

TEST_CASE("rows: what is collected and read again sends no message") {
  lapse::ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  const auto table =
      server.create_table<float>({.keys = 8, .length = 10, .consistency = Consistency::cap(0)});
  server.run_workers(1, [&](Worker& worker) {
    RowTable<float> rows(worker, table, {.keeps_reads = true});
    for (int clock = 0; clock < 3; ++clock) {
      for (int again = 0; again < 20; ++again) {
        for (std::uint64_t row = 0; row < 8; ++row) {
          static_cast<void>(rows.get(Key(row), 3));
          rows.inc(Key(row), 3, 1);
          rows.inc(Key(row), 4, 1);
        }
      }
      rows.clock();
    }
  });
  const lapse::TableCounters counters = server.statistics().table_total(table.id());
  const auto ranks = static_cast<std::uint64_t>(server.ranks());
  // One read and one push of each row in each clock.
  CHECK(counters.local_pulls + counters.remote_pulls == 24 * ranks);
  CHECK(counters.local_pushes + counters.remote_pushes == 24 * ranks);
}

TEST_CASE("rows: what does not exist is refused at once, and nothing is lost") {
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.keys = 2, .length = 3});
  server.run_workers(1, [&](Worker& worker) {
    RowTable<float> rows(worker, table);
    rows.inc(Key(1), 2, 1);
    CHECK_THROWS_AS(rows.inc(Key(2), 0, 1), lapse::KeyOutOfRange);
    CHECK_THROWS_AS(rows.inc(Key(1), 3, 1), lapse::IndexOutOfRange);
    CHECK_THROWS_AS(rows.get(Key(1), 3), lapse::IndexOutOfRange);
    rows.clock();
    worker.barrier();
    expect(rows.get(Key(1), 2) == static_cast<float>(worker.count()), "the increments");
  });
}
