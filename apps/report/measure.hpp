// What the name of a result says about it.
#pragma once

#include <string>
#include <string_view>

namespace lapse::apps {

enum class Better { lower, higher, unknown };

struct Measure {
  Better better = Better::unknown;
  bool is_quality = false;  // of the model, such as loss, RMSE or MRR; else of the run
};

// By the words of a name such as test_rmse or "valid all mrr": those of losses, errors, shares and rates.
Measure measure_of(std::string_view name);

// Whether `value` is better than `other`; false if either is not a number, or for an unknown direction.
bool is_better(double value, double other, Better better);

// The name with blanks between its words, and abbreviations such as RMSE in capitals.
std::string readable_name(std::string_view name);

}  // namespace lapse::apps
