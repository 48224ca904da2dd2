#include "lapse/io/matrices/zipf_matrix.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/loading/shuffle.hpp"
#include "lapse/io/matrices/zipf_distribution.hpp"

namespace lapse::io {

namespace {

// Streams of the seed.
enum Stream : std::uint64_t { kRowIds, kColumnIds, kCells, kRowFactors, kColumnFactors, kNoise };

std::vector<std::uint32_t> permutation(std::uint32_t size, RandomEngine random) {
  std::vector<std::uint32_t> ids(size);
  std::iota(ids.begin(), ids.end(), 0U);
  shuffle(std::span(ids), random);
  return ids;
}

std::vector<float> factors(std::size_t count, std::uint32_t rank, std::uint64_t seed, Stream stream) {
  const PositionalRandom random(seed);
  const double scale = std::pow(rank, -0.25);  // so that products of two factors have variance 1
  std::vector<float> values(count * rank);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(scale * random.normal(Key{stream}, i));
  }
  return values;
}

}  // namespace

CoordinateMatrix make_zipf_matrix(const ZipfMatrixOptions& options) {
  if (options.rank == 0) throw UsageError("Zipf matrix of rank 0: expected at least 1");
  const ZipfDistribution row_distribution(options.rows, options.exponent);
  const ZipfDistribution column_distribution(options.columns, options.exponent);
  const auto row_ids = permutation(options.rows, RandomEngine(options.seed, kRowIds));
  const auto column_ids = permutation(options.columns, RandomEngine(options.seed, kColumnIds));
  const auto row_factors = factors(options.rows, options.rank, options.seed, kRowFactors);
  const auto column_factors = factors(options.columns, options.rank, options.seed, kColumnFactors);

  CoordinateMatrix matrix{options.rows, options.columns, std::vector<Cell>(options.cells)};
  RandomEngine random(options.seed, kCells);
  const PositionalRandom noise(options.seed);
  for (std::uint64_t i = 0; i < options.cells; ++i) {
    Cell& cell = matrix.cells[i];
    cell.row = row_ids[row_distribution(random) - 1];
    cell.column = column_ids[column_distribution(random) - 1];
    const float* const row = row_factors.data() + std::size_t{cell.row} * options.rank;
    const float* const column = column_factors.data() + std::size_t{cell.column} * options.rank;
    const auto deviation = static_cast<float>(options.noise * noise.normal(Key{kNoise}, i));
    cell.value = std::inner_product(row, row + options.rank, column, deviation);
  }
  return matrix;
}

}  // namespace lapse::io
