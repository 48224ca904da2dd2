// Heat conduction on a cubic grid, by implicit steps: a sparse matrix, divided by rows, and its solver.
#pragma once

#include "examples/solver/halo.hpp"

namespace solver {

class HeatMatrix {
 public:
  // Collective. side^3 cells.
  HeatMatrix(MPI_Comm communicator, Index side) : halo_(communicator, side * side * side) {
    std::vector<Index> columns;
    for (Index row = halo_.begin(); row < halo_.end(); ++row) {
      row_begins_.push_back(columns.size());
      for (const Index stride : {Index{1}, side, side * side}) {  // The grid's three directions.
        const Index coordinate = row / stride % side;
        if (coordinate > 0) columns.push_back(row - stride);
        if (coordinate < side - 1) columns.push_back(row + stride);
      }
    }
    row_begins_.push_back(columns.size());
    halo_.need(columns);
    for (const Index column : columns) columns_.push_back(halo_.position(column));
    diagonal_.resize(halo_.own());
    values_.resize(columns.size());
  }

  const Halo& halo() const { return halo_; }

  // Collective. Sets the matrix: the identity and the flow between cells, each with a conductivity.
  void assemble(std::vector<double>& conductivity) {
    halo_.fill(conductivity);
    for (std::size_t row = 0; row < halo_.own(); ++row) {
      diagonal_[row] = 1;
      for (std::size_t i = row_begins_[row]; i < row_begins_[row + 1]; ++i) {
        const double a = conductivity[row];
        const double b = conductivity[columns_[i]];
        values_[i] = -2 * a * b / (a + b);
        diagonal_[row] -= values_[i];
      }
    }
  }

  // Collective.
  std::vector<double> multiply(std::vector<double>& x) const {
    halo_.fill(x);
    std::vector<double> product(halo_.own());
    for (std::size_t row = 0; row < product.size(); ++row) {
      product[row] = diagonal_[row] * x[row];
      for (std::size_t i = row_begins_[row]; i < row_begins_[row + 1]; ++i)
        product[row] += values_[i] * x[columns_[i]];
    }
    return product;
  }

  // Collective. Solves for x given b by conjugate gradients; returns the number of iterations.
  int solve(const std::vector<double>& b, std::vector<double>& x) const {
    std::vector<double> residual = multiply(x);
    for (std::size_t i = 0; i < halo_.own(); ++i) residual[i] = b[i] - residual[i];
    std::vector<double> direction = residual;
    double square = halo_.dot(residual, residual);
    const double enough = 1e-16 * halo_.dot(b, b);
    int iterations = 0;
    for (; square > enough; ++iterations) {
      const std::vector<double> product = multiply(direction);
      const double length = square / halo_.dot(direction, product);
      for (std::size_t i = 0; i < halo_.own(); ++i) {
        x[i] += length * direction[i];
        residual[i] -= length * product[i];
      }
      const double former = square;
      square = halo_.dot(residual, residual);
      for (std::size_t i = 0; i < halo_.own(); ++i)
        direction[i] = residual[i] + square / former * direction[i];
    }
    return iterations;
  }

 private:
  Halo halo_;
  std::vector<std::size_t> row_begins_;  // and the end
  std::vector<std::size_t> columns_;     // positions in vectors with a halo
  std::vector<double> values_;
  std::vector<double> diagonal_;
};

}  // namespace solver
