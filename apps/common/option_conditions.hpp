// Options that require other options.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace lapse::apps {

// An option given without what it needs would silently have no effect, so it is an error.
class OptionConditions {
 public:
  // `needed`: as the user writes it, such as "--mode classic". `is_met` is called when all options have their
  // values.
  void add(const CLI::Option* option, std::string needed, std::function<bool()> is_met);

  // Throws CLI::ValidationError for the first option without effect, naming the option and what it needs.
  void check() const;

 private:
  struct Condition {
    const CLI::Option* option;
    std::string needed;
    std::function<bool()> is_met;
  };
  std::vector<Condition> conditions_;
};

}  // namespace lapse::apps
