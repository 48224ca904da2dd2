// Rows of numbers projected to their principal components.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lapse::apps {

struct PrincipalComponents {
  // Of each component: its share of the variance, in descending order.
  std::vector<double> shares;
  // Row by row the coordinates, one of each component. The coordinate of a component that is largest in size
  // is positive, that of the first row if several are equal.
  std::vector<double> coordinates;
};

// Computed in double, from the eigenvectors of the covariance of the columns, or of the products of the rows
// if there are fewer rows than columns. `values`: rows x columns numbers, all finite.
// Components without variance have the share and the coordinates 0. Throws ConfigurationError if both
// numbers are above kMaxComponentSides.
PrincipalComponents principal_components(std::span<const float> values, std::size_t columns,
                                         std::size_t count);

constexpr std::size_t kMaxComponentSides = 4096;

}  // namespace lapse::apps
