// PETSc initialises MPI and handles signals. Its solves alternate with phases of a server: a vector is read
// from the table, passes through a matrix and its solver, and is written back to the table in another order.
#include <petscksp.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "lapse/jobs/job_control.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/install/coexistence/expect.hpp"

namespace {

constexpr PetscInt kRows = 90;
volatile std::sig_atomic_t signals_of_petsc = 0;

PetscErrorCode count_signal(int, void*) {
  signals_of_petsc = signals_of_petsc + 1;
  return 0;
}

// The handlers of all signals. PETSc installs many of them.
std::vector<void (*)(int)> handlers() {
  std::vector<void (*)(int)> handlers;
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    handlers.push_back(now.sa_handler);
  }
  return handlers;
}

class Solver {
 public:
  Solver() {
    MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, kRows, kRows, 3, nullptr, 2, nullptr,
                 &matrix_);
    MatGetOwnershipRange(matrix_, &first, &end);
    for (PetscInt row = first; row < end; ++row)
      for (PetscInt column = std::max(row - 1, 0); column <= std::min(row + 1, kRows - 1); ++column)
        MatSetValue(matrix_, row, column, row == column ? 3 : -1, INSERT_VALUES);
    MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY);
    KSPCreate(PETSC_COMM_WORLD, &solver_);
    KSPSetOperators(solver_, matrix_, matrix_);
    KSPSetTolerances(solver_, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT);
  }
  ~Solver() {
    KSPDestroy(&solver_);
    MatDestroy(&matrix_);
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  // Multiplies by the matrix, and solves for the original vector.
  void there_and_back(std::vector<double>& values) const {
    Vec x = nullptr;
    Vec b = nullptr;
    MatCreateVecs(matrix_, &x, &b);
    PetscScalar* elements = nullptr;
    VecGetArray(x, &elements);
    std::ranges::copy(values, elements);
    VecRestoreArray(x, &elements);
    MatMult(matrix_, x, b);
    VecZeroEntries(x);
    KSPSolve(solver_, b, x);
    const PetscScalar* result = nullptr;
    VecGetArrayRead(x, &result);
    std::copy_n(result, values.size(), values.begin());
    VecRestoreArrayRead(x, &result);
    VecDestroy(&x);
    VecDestroy(&b);
  }

  PetscInt first = 0;
  PetscInt end = 0;

 private:
  Mat matrix_ = nullptr;
  KSP solver_ = nullptr;
};

void run() {
  const Solver solver;
  const auto before = handlers();
  expect(before[SIGSEGV - 1] != SIG_DFL && before[SIGURG - 1] != SIG_DFL, "PETSc has its handlers");
  lapse::ParameterServer server(PETSC_COMM_WORLD);
  const auto table = server.create_table<double>({.name = "vector", .keys = kRows});
  const auto own = keys_between(solver.first, solver.end);
  auto reversed = own;
  for (lapse::Key& key : reversed) key = lapse::Key(kRows - 1 - key.value());
  server.run_workers(2, [&](lapse::Worker& worker) {
    for (std::uint64_t key = worker.index(); key < kRows; key += worker.count())
      worker.push(table, lapse::Key(key), std::vector<double>{1.0 + static_cast<double>(key)});
  });
  std::vector<double> values(own.size());
  for (int step = 1; step <= 5; ++step) {
    server.run_here([&](lapse::Worker& worker) {
      worker.pull(table, own, values).wait();
      raise(SIGURG);
    });
    expect(signals_of_petsc == step, "PETSc hears of a signal within a phase");
    solver.there_and_back(values);
    for (double& value : values) value *= 2;
    server.run_workers(1, [&](lapse::Worker& worker) {
      worker.barrier();  // All ranks have pulled.
      worker.set(table, reversed, values);
    });
  }
  server.run_here([&](lapse::Worker& worker) {
    const auto all = keys_between(0, kRows);
    std::vector<double> result(all.size());
    worker.pull(table, all, result).wait();
    for (std::size_t i = 0; i < result.size(); ++i)
      expect(near(result[i], 32.0 * static_cast<double>(kRows - i)),
             "twice as much in each step, reversed five times");
  });
  {
    const lapse::JobControl control(server, {.signals = {SIGURG}});
    raise(SIGURG);
    expect(control.stop_requested() && signals_of_petsc == 5, "the signal is the server's meanwhile");
  }
  raise(SIGURG);
  expect(signals_of_petsc == 6, "the signal is PETSc's again");
  server.close();
  expect(handlers() == before, "PETSc's handlers are as they were");
}

}  // namespace

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  PetscInitialize(&argc, &argv, nullptr, nullptr);
  PetscPushSignalHandler(count_signal, nullptr);
  PetscSetFPTrap(PETSC_FP_TRAP_ON);  // like the option -fp_trap
  run();
  PetscPrintf(PETSC_COMM_WORLD, "PETSc works\n");
  PetscPopSignalHandler();
  PetscFinalize();
}
