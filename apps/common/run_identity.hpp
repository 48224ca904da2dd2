// Properties that a run and the checkpoint it resumes must share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/saved_state.hpp"

namespace lapse::apps {

// Options, and properties of the data, that determine what is trained, each with its value as the user writes
// it.
class RunIdentity {
 public:
  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, bool value) { add(name, value ? "yes" : "no"); }
  void add(std::string_view name, const char* value) { add(name, std::string_view(value)); }
  void add(std::string_view name, double value);
  void add(std::string_view name, std::uint64_t value);

  Json to_json() const;
  // Throws ConfigurationError that names the first difference, with both values and the checkpoint, or says
  // that the checkpoint has none. Ignores properties that an earlier release did not save.
  void require_equal(const Json& saved, std::string_view checkpoint) const;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

// A checksum of data; depends on the order of the calls.
class DataChecksum {
 public:
  void add(std::uint64_t number);
  void add(std::string_view bytes);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace lapse::apps
