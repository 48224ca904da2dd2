// Options that have an effect only together with others.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace lapse::apps {

// An option that is given without what it needs would have no effect, though the user expects one: an error.
class OptionConditions {
 public:
  // `needed` as the user writes it, such as "--mode classic"; `is_met` is called when all options have their
  // values.
  void add(const CLI::Option* option, std::string needed, std::function<bool()> is_met);

  // Throws CLI::ValidationError, naming the option and what it needs, for the first that is given in vain.
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
