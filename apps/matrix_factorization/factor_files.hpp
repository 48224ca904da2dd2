// Writes the trained factors to files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/model_description.hpp"
#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/ranking/ranking_loss.hpp"
#include "lapse/io/npy/npy_writer.hpp"

namespace lapse::apps {

// Writes <prefix>-rows.npy and <prefix>-columns.npy (ids x rank), and with biases <prefix>-row-biases.npy and
// <prefix>-column-biases.npy (ids), all float32. The prediction of a cell is then
//   mean + row_bias[row] + column_bias[column] + rows[row] . columns[column].
// With a loss that ranks items, rows have no biases, there is no mean, and this is a score.
// If the matrix was read from files, <prefix>-row-ids.npy and <prefix>-column-ids.npy (uint64) have the ids
// of rows and columns, in ascending order; if these are names, <prefix>-row-names.txt and
// <prefix>-column-names.txt have them, each with a tab and its number of ratings. <prefix>.json describes all
// of them (ModelDescription).
class FactorFiles {
 public:
  // Creates the files of numbers, so that a bad path is noticed before the training. The problem must outlive
  // the object. Throws FileError.
  FactorFiles(const std::string& prefix, const FactorizationProblem& problem, const FactorModel& model,
              FactorLoss loss);

  // Pulls the factors in ranges of keys and writes them. Not collective: called by one worker. The files get
  // their final names on success. Throws FileError.
  void write(Worker& worker, const FactorTable& factors);

 private:
  struct Side {
    io::NpyWriter<float> factors;
    std::optional<io::NpyWriter<float>> biases;
    std::optional<io::NpyWriter<std::uint64_t>> ids;
  };

  Side create(const std::string& prefix, std::uint64_t count, const std::vector<std::uint64_t>& ids,
              bool has_biases) const;
  void write_side(Worker& worker, const FactorTable& factors, Key first, std::uint64_t count,
                  Side& side) const;

  std::string prefix_;
  ModelDescription description_;
  const FactorizationProblem& problem_;
  FactorModel model_;
  Side rows_;
  Side columns_;
};

}  // namespace lapse::apps
