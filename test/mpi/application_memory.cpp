// A program with one server that is refused memory: application_memory server|worker|main.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string_view>

#include "apps/common/manager_program.hpp"
#include "apps/common/mpi_session.hpp"

using namespace lapse;

namespace {

// Whether the program's next allocation fails.
bool refuses_next_allocation = false;

}  // namespace

// The program's allocator: NOLINTBEGIN(cppcoreguidelines-no-malloc)
void* operator new(std::size_t bytes) {
  if (refuses_next_allocation) {
    refuses_next_allocation = false;
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
// NOLINTEND(cppcoreguidelines-no-malloc)

// Fails on the last rank only: while the server is made, in work whose errors reach all ranks, or while the
// other ranks wait for it.
int main(int argument_count, char** arguments) {
  const apps::MpiSession mpi(argument_count, arguments);
  const std::string_view where = argument_count == 2 ? arguments[1] : "";
  const auto refuse_memory = [](Rank rank, std::int32_t ranks) {
    if (rank.value() == ranks - 1) throw std::bad_alloc();
    return 0;
  };
  const std::function<void(adapm::ParameterManager&)> run = [&](adapm::ParameterManager& manager) {
    ParameterServer& server = manager.server();
    if (where == "worker") {
      apps::make_on_every_rank(server, [&] { return refuse_memory(server.rank(), server.ranks()); });
    }
    refuse_memory(server.rank(), server.ranks());
    server.run_workers(1, [](Worker& worker) { worker.barrier(); });
  };
  refuses_next_allocation = where == "server" && mpi.rank() != 0;
  return apps::run_manager_program(std::nullopt, {}, run);
}
