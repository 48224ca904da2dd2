// What a program on one server does when memory is refused: application_memory worker|main.
#include <cstdint>
#include <new>
#include <string_view>

#include "apps/common/mpi_session.hpp"
#include "apps/common/server_program.hpp"

using namespace lapse;

// On the last rank alone: in work that reaches all ranks as an error, or where the other ranks wait for it.
int main(int argument_count, char** arguments) {
  const apps::MpiSession mpi(argument_count, arguments);
  const bool in_worker = argument_count == 2 && std::string_view(arguments[1]) == "worker";
  const auto refuse_memory = [](Rank rank, std::int32_t ranks) {
    if (rank.value() == ranks - 1) throw std::bad_alloc();
    return 0;
  };
  return apps::run_server_program([&](ParameterServer& server) {
    if (in_worker) {
      apps::make_on_every_rank(server, [&] { return refuse_memory(server.rank(), server.ranks()); });
    }
    refuse_memory(server.rank(), server.ranks());
    server.run_workers(1, [](Worker& worker) { worker.barrier(); });
  });
}
