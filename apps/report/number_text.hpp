// Numbers as a reader sees them.
#pragma once

#include <string>

namespace lapse::apps {

// Five digits, or all of those of an integer, in groups: "1.5289", "127 542"; "-" for what is not a number.
std::string number_text(double value);

// With fixed decimals, without a sign at zero.
std::string fixed_text(double value, int decimals);

}  // namespace lapse::apps
