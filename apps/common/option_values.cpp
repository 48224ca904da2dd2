#include "apps/common/option_values.hpp"

#include <charconv>
#include <functional>
#include <limits>
#include <string_view>
#include <system_error>

namespace lapse::apps {

namespace {

constexpr double kMaxNumber = std::numeric_limits<float>::max();

CLI::Validator check_number(const std::function<bool(double)>& is_valid, const std::string& expected) {
  return {[=](std::string& text) {
            double number = 0;
            const bool is_number = CLI::detail::lexical_cast(text, number);
            // Comparisons with NaN are false.
            const bool is_finite = number >= -kMaxNumber && number <= kMaxNumber;
            if (is_number && is_finite && is_valid(number)) return std::string();
            return text + ", expected " + expected;
          },
          ""};
}

}  // namespace

CLI::Validator any_number() {
  return check_number([](double) { return true; }, "a finite number");
}

CLI::Validator number_from_0() {
  return check_number([](double number) { return number >= 0; }, "a finite number, 0 or more");
}

CLI::Validator number_above_0() {
  return check_number([](double number) { return static_cast<float>(number) > 0; },
                      "a finite number, more than 0");
}

CLI::Validator number_in(double min, double max) {
  return check_number([=](double number) { return number >= min && number <= max; },
                      "a number from " + CLI::detail::to_string(min) + " to " + CLI::detail::to_string(max));
}

CLI::Validator number_from_0_below_1() {
  return check_number([](double number) { return number >= 0 && static_cast<float>(number) < 1; },
                      "a number, at least 0 and below 1");
}

CLI::Validator number_above_0_up_to_1() {
  return check_number([](double number) { return static_cast<float>(number) > 0 && number <= 1; },
                      "a number, above 0 and at most 1");
}

CLI::Validator integer_from_0() {
  return {[](std::string& text) {
            std::uint64_t number = 0;
            const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
            if (result.ec == std::errc{} && result.ptr == text.data() + text.size()) return std::string();
            return text + ", expected an integer from 0 to 18446744073709551615";
          },
          ""};
}

CLI::Validator file_name() {
  return {[](std::string& text) { return text.empty() ? std::string("expected the name of a file") : ""; },
          ""};
}

}  // namespace lapse::apps
