// A sparse table: keys are hashes of words, and exist once a worker has pushed to them.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"

// FNV-1a: the same on every rank.
static lapse::Key key_of(std::string_view word) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : word) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return lapse::Key(hash);
}

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  bool correct = true;
  std::optional<lapse::ParameterServer> owner;
  try {
    const std::vector<std::string_view> text{"a",    "rose", "is", "a",    "rose", "is", "a",
                                             "rose", "but",  "no", "rose", "is",   "a",  "server"};
    lapse::ParameterServer& server = owner.emplace(MPI_COMM_WORLD);
    const auto counts = server.create_table<std::int64_t>({.name = "word counts", .sparse = true});
    server.run_workers(1, [&](lapse::Worker& worker) {
      const std::int64_t one = 1;
      for (std::size_t i = worker.index(); i < text.size(); i += worker.count())
        worker.push(counts, key_of(text[i]), {&one, 1});
      worker.barrier();
      // One worker visits each existing key, on the rank that serves it.
      double keys_and_words[2] = {0, 0};
      worker.for_each_local(counts, [&](lapse::Key, std::span<const std::int64_t> count) {
        keys_and_words[0] += 1;
        keys_and_words[1] += static_cast<double>(count[0]);
      });
      worker.all_reduce(keys_and_words);
      std::int64_t roses = 0;
      std::int64_t violets = 0;
      worker.pull(counts, key_of("rose"), {&roses, 1}).wait();
      worker.pull(counts, key_of("violet"), {&violets, 1}).wait();  // Creates no key.
      correct = keys_and_words[0] == 6 && keys_and_words[1] == 14 && roses == 4 && violets == 0;
      if (worker.index() == 0)
        std::printf("%g words, %g of them different, 'rose' %d times, 'violet' %d times\n", keys_and_words[1],
                    keys_and_words[0], static_cast<int>(roses), static_cast<int>(violets));
    });
    server.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
