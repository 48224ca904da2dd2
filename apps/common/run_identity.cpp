#include "apps/common/run_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

void RunIdentity::add(std::string_view name, std::string_view value) {
  entries_.emplace_back(name, value);
}

void RunIdentity::add(std::string_view name, double value) {
  add(name, std::string_view(fmt::format("{}", value)));
}

void RunIdentity::add(std::string_view name, std::uint64_t value) {
  add(name, std::string_view(fmt::format("{}", value)));
}

Json RunIdentity::to_json() const {
  Json json = Json::object();
  for (const auto& [name, value] : entries_) json[name] = value;
  return json;
}

void RunIdentity::require_equal(const Json& saved, std::string_view checkpoint) const {
  const bool readable = saved.is_object() && !saved.empty() &&
                        std::ranges::all_of(saved, [](const Json& entry) { return entry.is_string(); });
  if (!readable)
    throw ConfigurationError(fmt::format("{} is not the checkpoint of an application", checkpoint));
  for (const auto& [name, value] : entries_) {
    const std::string before = saved.value(name, value);
    if (before == value) continue;
    throw ConfigurationError(fmt::format(
        "{} is {}, but {} in the checkpoint that is to be resumed, {}: give it the same value, or "
        "choose another --checkpoint-dir",
        name, value, before, checkpoint));
  }
}

void DataChecksum::add(std::uint64_t number) {
  value_ = mix_bits(value_ * kGoldenGamma + number);
}

void DataChecksum::add(std::string_view bytes) {
  for (const char byte : bytes) add(std::uint64_t{static_cast<unsigned char>(byte)});
  add(bytes.size());
}

}  // namespace lapse::apps
