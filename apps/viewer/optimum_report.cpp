#include "apps/viewer/optimum_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

namespace lapse::apps {

namespace {

nlohmann::json work_json(const AllocationWork& work, double cost) {
  return {{"reads", work.reads},      {"writes", work.writes}, {"relocations", work.moves},
          {"replicas", work.set_ups}, {"deltas", work.deltas}, {"refreshes", work.refreshes},
          {"drops", work.drops},      {"cost", cost}};
}

}  // namespace

double TableOptimum::regret() const {
  const double cost = costs.of(ran);
  if (least_cost > 0) return cost / least_cost;
  return cost > 0 ? std::numeric_limits<double>::infinity() : 1;
}

TableOptimum optimum_of(const TableAllocation& table, const AllocationCosts& costs, std::string unit) {
  TableOptimum optimum{.table = table.name,
                       .domains = table.domains,
                       .unit = std::move(unit),
                       .costs = costs,
                       .keys = optima_of(table, costs),
                       .ran = {},
                       .stayed = {},
                       .least = {}};
  for (const KeyOptimum& key : optimum.keys) {
    optimum.accesses += key.accesses;
    optimum.ran += key.ran;
    optimum.stayed += key.stayed;
    optimum.least += key.least;
    optimum.least_cost += key.least_cost;
  }
  return optimum;
}

void print_optimum(const TableOptimum& optimum, std::size_t worst_keys, std::FILE* out) {
  fmt::print(out, "table '{}': {} domains, {} accesses of {} keys\n", optimum.table, optimum.domains,
             optimum.accesses, optimum.keys.size());
  fmt::print(out, "{:<16}{:>11}{:>11}{:>13}{:>11}{:>11}{:>11}{:>11}{:>14}\n", "", "reads", "writes",
             "relocations", "replicas", "deltas", "refreshes", "drops", optimum.unit);
  const auto line = [&](std::string_view name, const AllocationWork& work) {
    fmt::print(out, "{:<16}{:>11}{:>11}{:>13}{:>11}{:>11}{:>11}{:>11}{:>14.6g}\n", name, work.reads,
               work.writes, work.moves, work.set_ups, work.deltas, work.refreshes, work.drops,
               optimum.costs.of(work));
  };
  line("as it ran", optimum.ran);
  line("nothing moved", optimum.stayed);
  if (optimum.is_exact()) {
    line("optimum", optimum.least);
  } else {
    fmt::print(out, "{:<16}{:>93.6g}\n", "at least", optimum.least_cost);
  }
  fmt::print(out, "regret {}{:.2f}\n", optimum.is_exact() ? "" : "at most ", optimum.regret());
  if (worst_keys == 0) return;
  std::vector<std::pair<double, const KeyOptimum*>> order;  // by what was lost
  for (const KeyOptimum& key : optimum.keys)
    order.emplace_back(optimum.costs.of(key.ran) - key.least_cost, &key);
  std::ranges::stable_sort(order, std::greater<>(), &std::pair<double, const KeyOptimum*>::first);
  fmt::print(out, "\n{:>20}{:>12}{:>16}{:>16}\n", "key", "accesses", "as it ran",
             optimum.is_exact() ? "optimum" : "at least");
  for (const auto& [lost, key] : std::span(order).first(std::min(worst_keys, order.size())))
    fmt::print(out, "{:>20}{:>12}{:>16.6g}{:>16.6g}\n", key->key, key->accesses, optimum.costs.of(key->ran),
               key->least_cost);
}

std::string optima_json(const std::vector<TableOptimum>& optima, const Allocation& allocation) {
  nlohmann::json tables = nlohmann::json::array();
  for (const TableOptimum& optimum : optima) {
    nlohmann::json table = {{"table", optimum.table},
                            {"domains", optimum.domains},
                            {"unit", optimum.unit},
                            {"accesses", optimum.accesses},
                            {"keys", optimum.keys.size()},
                            {"ran", work_json(optimum.ran, optimum.costs.of(optimum.ran))},
                            {"nothing_moved", work_json(optimum.stayed, optimum.costs.of(optimum.stayed))},
                            {"exact", optimum.is_exact()},
                            {"regret", optimum.regret()}};
    if (optimum.is_exact()) {
      table["least"] = work_json(optimum.least, optimum.least_cost);
    } else {
      table["least"] = {{"cost", optimum.least_cost}};
    }
    tables.push_back(std::move(table));
  }
  nlohmann::json document = {{"tables", std::move(tables)}, {"incomplete_ranks", allocation.incomplete}};
  document["dropped_seconds"] = nullptr;
  if (allocation.dropped) document["dropped_seconds"] = static_cast<double>(*allocation.dropped) * 1e-9;
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace lapse::apps
