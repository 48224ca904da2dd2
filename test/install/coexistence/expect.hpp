// For programs that use the library together with others: an error ends the job.
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "lapse/ps/parameter_server.hpp"

inline void expect(bool truth, std::string_view what) {
  if (truth) return;
  std::fprintf(stderr, "wrong: %.*s\n", static_cast<int>(what.size()), what.data());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

inline bool near(double a, double b) {
  return std::abs(a - b) <= 1e-8 * std::abs(b);
}

inline std::vector<lapse::Key> keys_between(std::int64_t first, std::int64_t end) {
  std::vector<lapse::Key> keys;
  for (std::int64_t key = first; key < end; ++key) keys.emplace_back(key);
  return keys;
}
