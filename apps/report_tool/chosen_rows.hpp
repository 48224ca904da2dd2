// Which rows of a model are drawn.
#pragma once

#include <cstddef>
#include <string>

#include "apps/model_files/named_rows.hpp"
#include "apps/report/embedding_page.hpp"

namespace lapse::apps {

struct RowChoice {
  std::string labels = {};       // file: the names that are labelled; empty: the most frequent ones are
  std::size_t label_count = 60;  // without a file
  std::size_t points = 1000;     // rows that are drawn, besides the labelled ones; 0: all rows
  bool unit_length = false;      // rows divided by their length
};

// The rows with the most frequent names, and those that are labelled. Each line of the file has the name of
// a row, then, separated by tabs, what is shown instead of it, and the name of a group; both may be missing.
// The remark counts names that no row has. Throws FileError if the file has no other ones.
EmbeddingRows choose_rows(const NamedRows& rows, const RowChoice& choice);

}  // namespace lapse::apps
