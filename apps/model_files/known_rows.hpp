// Rows that a training takes from a trained model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "apps/common/model_description.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Sets each row of the table, from key `first` on, to the row of `values` that source(row) names, by its
// index; rows without one stay as they are. The state of the update rule begins anew. Returns how many rows
// were set. Not collective: called by one worker.
std::uint64_t set_known_rows(Worker& worker, const Table<float>& table, std::uint64_t first,
                             std::uint64_t rows, std::span<const float> values,
                             const std::function<std::optional<std::size_t>(std::uint64_t)>& source);

// Throws ConfigurationError, which names the option `option` of this program, unless the model is of this
// kind.
void require_kind(const ModelDescription& model, std::string_view kind, std::string_view option);
// Likewise, unless the model's property `what` is `own`, that of this training.
void require_same(const ModelDescription& model, std::string_view what, std::string_view found,
                  std::string_view own, std::string_view option);

}  // namespace lapse::apps
