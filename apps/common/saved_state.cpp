#include "apps/common/saved_state.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

template <class Counters>
Json counters_json(const Counters& counters) {
  Json json = Json::object();
  for (const CounterField<Counters>& field : counter_fields<Counters>())
    if (counters.*field.member != 0) json[std::string(field.name)] = counters.*field.member;
  return json;
}

template <class Counters>
Counters counters_of(const Json& json) {
  Counters counters;
  for (const CounterField<Counters>& field : counter_fields<Counters>())
    counters.*field.member = json.value(std::string(field.name), std::uint64_t{0});
  return counters;
}

}  // namespace

Json to_json(const PhaseCost& cost) {
  return {{"seconds", cost.seconds},
          {"accesses", counters_json(cost.accesses)},
          {"traffic", counters_json(cost.traffic)}};
}

PhaseCost phase_cost(const Json& json) {
  return {json.at("seconds").get<double>(), counters_of<TableCounters>(json.at("accesses")),
          counters_of<RankCounters>(json.at("traffic"))};
}

void read_state(const std::function<void()>& read) {
  try {
    read();
  } catch (const Json::exception& error) {
    throw ConfigurationError(
        fmt::format("the state of the training in a checkpoint cannot be read: {}", error.what()));
  }
}

Json parse_state(const std::string& text) {
  Json json;
  read_state([&] { json = Json::parse(text); });
  return json;
}

}  // namespace lapse::apps
