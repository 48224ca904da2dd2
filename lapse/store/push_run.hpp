// Pushes to many keys in a row.
#pragma once

#include <cstddef>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/store/store.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"

namespace lapse {

// Like Store::update_run, with the update rule of the table: `updates` has one for each key, contiguously.
// Only for tables whose values have one length; a scale other than 1 requires rule.accepts_scale().
Store::Run push_run(Store& store, const UpdateKernel& rule, std::span<const Key> keys, Store::Reach reach,
                    const std::byte* updates, float scale);

}  // namespace lapse
