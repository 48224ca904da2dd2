// Heat conduction through a block of metal, without a server. The metal's conductivity depends on its state,
// by a law that takes long to evaluate, so each rank keeps its evaluations.
#include "examples/solver/heated_block.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    solver::HeatedBlock block(MPI_COMM_WORLD);
    std::map<solver::State, double> law;
    long evaluations = 0;
    while (!block.finished()) {
      for (const solver::State state : block.states()) {
        if (law.contains(state)) continue;
        law[state] = solver::evaluate_law(state);
        ++evaluations;
      }
      block.step(law);
    }
    block.print(evaluations);
  }
  MPI_Finalize();
}
