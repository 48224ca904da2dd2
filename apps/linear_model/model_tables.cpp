#include "apps/linear_model/model_tables.hpp"

namespace lapse::apps {

ModelTables create_model_tables(adapm::ParameterManager& manager, const std::string& name, std::uint64_t keys,
                                std::optional<Consistency> consistency) {
  const auto create = [&](const std::string& of) {
    return manager.create_table<double>({.name = name + of, .keys = keys, .consistency = consistency});
  };
  return {create("-weights"), create("-gradient")};
}

}  // namespace lapse::apps
