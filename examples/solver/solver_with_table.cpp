// The same program, with evaluations shared by the ranks. `+` marks new lines.
#include "examples/solver/heated_block.hpp"
#include "lapse/ps/parameter_server.hpp"        // +
#include "lapse/transport/mpi/environment.hpp"  // +

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();  // +
  MPI_Init(&argc, &argv);
  {
    solver::HeatedBlock block(MPI_COMM_WORLD);
    lapse::ParameterServer server(MPI_COMM_WORLD);                                    // +
    const auto table = server.create_table<double>({.name = "law", .sparse = true});  // + by state
    std::map<solver::State, double> law;
    long evaluations = 0;
    while (!block.finished()) {
      std::vector<lapse::Key> missing;  // +
      for (const solver::State state : block.states())
        if (!law.contains(state)) missing.emplace_back(state);
      std::vector<double> values(missing.size());         // +
      server.run_here([&](lapse::Worker& worker) {        // +
        worker.pull(table, missing, values).wait();       // + 0: no rank has evaluated it
      });                                                 // +
      for (std::size_t i = 0; i < missing.size(); ++i) {  // +
        if (values[i] == 0) {                             // +
          values[i] = solver::evaluate_law(missing[i].value());
          ++evaluations;
        }
        law[missing[i].value()] = values[i];  // +
      }
      server.run_here([&](lapse::Worker& worker) { worker.set(table, missing, values); });  // +
      block.step(law);
    }
    block.print(evaluations);
    server.close();  // +
  }
  MPI_Finalize();
}
