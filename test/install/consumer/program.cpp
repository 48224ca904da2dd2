// A program that uses an installed library: tables, intents, files, and exceptions of the library.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/version.hpp"
#include "lapse/io/files/output_file.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/transport/mpi/environment.hpp"

namespace {

void expect(bool truth, const char* what) {
  if (truth) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Whether f throws exactly this type, not a base class of it.
template <class Thrown, class F>
bool throws(F f) {
  try {
    f();
  } catch (const Thrown&) {
    return true;
  } catch (...) {
  }
  return false;
}

void read_files() {
  const std::string path = "/tmp/lapse_installed_" + std::to_string(getpid()) + ".txt";
  {
    lapse::io::OutputFile file(path);
    file.write("first\nsecond\n");
    file.close();
  }
  lapse::io::LineReader reader(path);
  std::string_view line;
  expect(reader.next(line) && line == "first", "a line that was written is read");
  std::remove(path.c_str());
  expect(throws<lapse::FileError>([&] { lapse::io::LineReader missing(path); }),
         "FileError for a file that is missing");
}

}  // namespace

static_assert(LAPSE_VERSION_AT_LEAST(0, 1, 0) &&
              !LAPSE_VERSION_AT_LEAST(LAPSE_VERSION_MAJOR, LAPSE_VERSION_MINOR + 1, 0));

int main(int argc, char** argv) {
  expect(lapse::library_version() == lapse::kHeaderVersion, "the library has the version of its headers");
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  {
    adapm::ParameterManager manager(MPI_COMM_WORLD);
    const auto table = manager.create_table<double>({.name = "numbers", .keys = 100, .length = 2});
    const auto rule = lapse::UpdateRule::adagrad({.learning_rate = 0.5F});
    const auto learned = manager.create_table<float>({.name = "learned", .keys = 10, .update_rule = rule});
    const auto sampler =
        manager.create_sampler(table, adapm::Distribution::uniform({lapse::Key(0), lapse::Key(99)}));
    manager.run_workers(2, [&](adapm::IntentWorker& worker) {
      const std::vector<lapse::Key> keys{lapse::Key(7), lapse::Key(worker.index() + 10)};
      std::vector<double> values(keys.size() * table.length(), 1.0);
      worker.intent(table, keys, lapse::Clock(1), lapse::Clock(2));
      worker.advance_clock();
      worker.push(table, keys, values);
      worker.push(learned, lapse::Key(1), std::vector<float>{0.25F});
      worker.barrier();
      worker.wait_sync();
      worker.barrier();
      worker.pull(table, keys, values).wait();
      expect(values[0] == static_cast<double>(worker.count()), "all workers have added one");
      expect(throws<lapse::KeyOutOfRange>([&] { worker.push(table, lapse::Key(100), values); }),
             "KeyOutOfRange");
      auto sample = worker.prepare_sample(sampler, 4, worker.current_clock(), lapse::Clock(1000));
      std::vector<lapse::Key> drawn(4, lapse::Key(0));
      std::vector<double> of_drawn(8);
      worker.pull_sample(sample, drawn, of_drawn).wait();
    });
    expect(throws<lapse::ConfigurationError>(
               [&] { manager.create_table<float>({.name = "numbers", .keys = 1}); }),
           "ConfigurationError for a name that is taken");
    read_files();
    if (manager.rank() == lapse::Rank{0})
      std::printf("version %s on %d ranks\n", lapse::library_version_text(), manager.ranks());
    manager.close();
  }
  MPI_Finalize();
}
