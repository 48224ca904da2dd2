// hypre solves by multigrid on two of three ranks, while the third rank is already in the next phase of a
// server on all ranks. Right-hand sides come from a table of that server, and solutions are pushed to another
// one.
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>

#include <algorithm>

#include "lapse/transport/mpi/environment.hpp"
#include "test/install/coexistence/expect.hpp"

namespace {

constexpr HYPRE_BigInt kRows = 80;

// The rows of one of the solving ranks, in a matrix with 3 on the diagonal and -1 beside it.
class Solver {
 public:
  explicit Solver(MPI_Comm communicator) : communicator_(communicator) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &ranks);
    first = kRows * rank / ranks;
    end = kRows * (rank + 1) / ranks;
    HYPRE_IJMatrixCreate(communicator, first, end - 1, first, end - 1, &matrix_);
    HYPRE_IJMatrixSetObjectType(matrix_, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(matrix_);
    for (HYPRE_BigInt row = first; row < end; ++row) {
      std::vector<HYPRE_BigInt> columns;
      std::vector<double> values;
      for (HYPRE_BigInt column = std::max(row - 1, 0); column <= std::min(row + 1, kRows - 1); ++column) {
        columns.push_back(column);
        values.push_back(row == column ? 3 : -1);
      }
      HYPRE_Int count = static_cast<HYPRE_Int>(columns.size());
      HYPRE_IJMatrixSetValues(matrix_, 1, &count, &row, columns.data(), values.data());
    }
    HYPRE_IJMatrixAssemble(matrix_);
  }
  ~Solver() { HYPRE_IJMatrixDestroy(matrix_); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  // Collective over the solving ranks.
  std::vector<double> solve(const std::vector<double>& right) const {
    HYPRE_IJVector b = vector(right);
    HYPRE_IJVector x = vector(std::vector<double>(right.size()));
    void* object = nullptr;
    HYPRE_IJMatrixGetObject(matrix_, &object);
    auto* const matrix = static_cast<HYPRE_ParCSRMatrix>(object);
    HYPRE_IJVectorGetObject(b, &object);
    auto* const b_object = static_cast<HYPRE_ParVector>(object);
    HYPRE_IJVectorGetObject(x, &object);
    auto* const x_object = static_cast<HYPRE_ParVector>(object);
    HYPRE_Solver multigrid = nullptr;
    HYPRE_BoomerAMGCreate(&multigrid);
    HYPRE_BoomerAMGSetTol(multigrid, 1e-12);
    HYPRE_BoomerAMGSetMaxIter(multigrid, 100);
    HYPRE_BoomerAMGSetup(multigrid, matrix, b_object, x_object);
    HYPRE_BoomerAMGSolve(multigrid, matrix, b_object, x_object);
    HYPRE_BoomerAMGDestroy(multigrid);
    std::vector<double> result(right.size());
    HYPRE_IJVectorGetValues(x, static_cast<HYPRE_Int>(result.size()), rows().data(), result.data());
    HYPRE_IJVectorDestroy(b);
    HYPRE_IJVectorDestroy(x);
    return result;
  }

  HYPRE_BigInt first = 0;
  HYPRE_BigInt end = 0;

 private:
  std::vector<HYPRE_BigInt> rows() const {
    std::vector<HYPRE_BigInt> rows;
    for (HYPRE_BigInt row = first; row < end; ++row) rows.push_back(row);
    return rows;
  }
  HYPRE_IJVector vector(const std::vector<double>& values) const {
    HYPRE_IJVector vector = nullptr;
    HYPRE_IJVectorCreate(communicator_, first, end - 1, &vector);
    HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(vector);
    HYPRE_IJVectorSetValues(vector, static_cast<HYPRE_Int>(values.size()), rows().data(), values.data());
    HYPRE_IJVectorAssemble(vector);
    return vector;
  }

  MPI_Comm communicator_;
  HYPRE_IJMatrix matrix_ = nullptr;
};

// The elements of the product of the matrix and a constant vector.
double times_matrix(std::int64_t row, double number) {
  return number * (row == 0 || row == kRows - 1 ? 2 : 1);
}

void run() {
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto rights = server.create_table<double>({.name = "right-hand sides", .keys = kRows});
  const auto solutions = server.create_table<double>({.name = "solutions", .keys = kRows});
  const bool solves = server.rank() < lapse::Rank(2);
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, solves ? 0 : MPI_UNDEFINED, 0, &some);
  {
    std::optional<Solver> solver;
    std::optional<lapse::ParameterServer> server_of_some;
    if (solves) solver.emplace(some);
    if (solves) server_of_some.emplace(some);
    for (int step = 1; step <= 4; ++step) {
      server.run_workers(1, [&](lapse::Worker& worker) {
        for (std::uint64_t row = worker.index(); row < kRows; row += worker.count())
          worker.set(rights, lapse::Key(row),
                     std::vector{times_matrix(static_cast<std::int64_t>(row), step)});
      });
      std::vector<double> own;
      std::vector<lapse::Key> keys;
      if (solves) keys = keys_between(solver->first, solver->end);
      own.resize(keys.size());
      server.run_workers(solves ? 1 : 0,
                         [&](lapse::Worker& worker) { worker.pull(rights, keys, own).wait(); });
      if (solves) {
        own = solver->solve(own);
        double largest[] = {*std::ranges::max_element(own)};
        server_of_some->run_workers(
            1, [&](lapse::Worker& worker) { worker.all_reduce(largest, lapse::Reduce::max); });
        expect(near(largest[0], step), "the largest element of the solution");
      }
      server.run_workers(1, [&](lapse::Worker& worker) {
        worker.push(solutions, keys, own);
        worker.barrier();
        const auto all = keys_between(0, kRows);
        std::vector<double> sums(all.size());
        worker.pull(solutions, all, sums).wait();
        for (const double sum : sums) expect(near(sum, step * (step + 1) / 2.0), "the sum of all solutions");
        worker.barrier();
      });
    }
    if (server_of_some) server_of_some->close();
  }
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
  if (server.rank() == lapse::Rank(0)) std::printf("hypre works\n");
  server.close();
}

}  // namespace

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  HYPRE_Init();
  run();
  HYPRE_Finalize();
  MPI_Finalize();
}
