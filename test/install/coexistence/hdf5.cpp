// Parallel HDF5: between phases all ranks write the rows of a table to one file, which stays open during the
// phases.
#include <hdf5.h>

#include "lapse/transport/mpi/environment.hpp"
#include "test/install/coexistence/expect.hpp"

namespace {

constexpr hsize_t kKeys = 70;
constexpr hsize_t kLength = 3;
constexpr hsize_t kSteps = 4;

// A file of steps x keys x elements. A rank reads or writes a part of one step.
class File {
 public:
  File(const char* path, bool create) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    file_ =
        create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    expect(file_ >= 0, "the file is open");
    const hsize_t all[] = {kSteps, kKeys, kLength};
    space_ = H5Screate_simple(3, all, nullptr);
    data_ = create
                ? H5Dcreate(file_, "values", H5T_NATIVE_DOUBLE, space_, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                : H5Dopen(file_, "values", H5P_DEFAULT);
    transfer_ = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer_, H5FD_MPIO_COLLECTIVE);
  }
  ~File() {
    H5Pclose(transfer_);
    H5Dclose(data_);
    H5Sclose(space_);
    H5Fclose(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Collective.
  void write(hsize_t step, hsize_t first, const std::vector<double>& rows) const {
    const hid_t memory = choose(step, first, rows.size() / kLength);
    expect(H5Dwrite(data_, H5T_NATIVE_DOUBLE, memory, space_, transfer_, rows.data()) >= 0,
           "rows are written");
    H5Sclose(memory);
  }
  std::vector<double> read(hsize_t step, hsize_t first, hsize_t keys) const {
    std::vector<double> rows(keys * kLength);
    const hid_t memory = choose(step, first, keys);
    expect(H5Dread(data_, H5T_NATIVE_DOUBLE, memory, space_, transfer_, rows.data()) >= 0, "rows are read");
    H5Sclose(memory);
    return rows;
  }

 private:
  hid_t choose(hsize_t step, hsize_t first, hsize_t keys) const {
    const hsize_t begin[] = {step, first, 0};
    const hsize_t count[] = {1, keys, kLength};
    H5Sselect_hyperslab(space_, H5S_SELECT_SET, begin, nullptr, count, nullptr);
    return H5Screate_simple(3, count, nullptr);
  }

  hid_t file_ = -1;
  hid_t space_ = -1;
  hid_t data_ = -1;
  hid_t transfer_ = -1;
};

void run(const char* path) {
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.name = "values", .keys = kKeys, .length = kLength});
  const auto rank = static_cast<hsize_t>(server.rank().value());
  const auto ranks = static_cast<hsize_t>(server.ranks());
  const hsize_t first = kKeys * rank / ranks;
  const auto own =
      keys_between(static_cast<std::int64_t>(first), static_cast<std::int64_t>(kKeys * (rank + 1) / ranks));
  {
    const File file(path, true);
    std::vector<double> rows(own.size() * kLength);
    for (hsize_t step = 0; step < kSteps; ++step) {
      server.run_workers(2, [&](lapse::Worker& worker) {
        const auto all = keys_between(0, kKeys);
        worker.push(table, all, std::vector<double>(all.size() * kLength, 1));
        worker.barrier();
        if (worker.local_index() == 0) worker.pull(table, own, rows).wait();
      });
      file.write(step, first, rows);
    }
  }
  const File file(path, false);
  for (hsize_t step = 0; step < kSteps; ++step) {
    const auto expected = static_cast<double>((step + 1) * 2 * ranks);
    expect(file.read(step, 0, kKeys) == std::vector<double>(kKeys * kLength, expected),
           "the file has every step's rows of all ranks");
    server.run_here([](lapse::Worker& worker) { worker.barrier(); });
  }
  server.close();
  if (rank == 0) std::printf("HDF5 works\n");
}

}  // namespace

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  expect(argc == 2, "hdf5_program FILE");
  run(argv[1]);
  MPI_Finalize();
}
