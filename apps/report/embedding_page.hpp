// The page about the rows of a model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lapse::apps {

struct EmbeddingRows {
  std::string title;
  std::string origin;      // how the rows came to be, in lines
  std::string remark;      // a sentence about the choice of rows; may be empty
  std::size_t length = 0;  // of a row
  std::vector<float> values;
  std::vector<std::string> names;                 // of each row
  std::vector<bool> labelled;                     // each row: whether the name is shown beside the point
  std::vector<std::optional<std::size_t>> group;  // of each row; nullopt: one of the background
  std::vector<std::string> groups;                // their names; empty for one group without a name
};

// One HTML document: the rows projected to two dimensions by their principal components, with the shares of
// variance. Throws ConfigurationError if there are no rows, or for a number that is not finite, with the
// row's name.
std::string embedding_page(const EmbeddingRows& rows);

}  // namespace lapse::apps
