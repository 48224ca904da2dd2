// Leases, in the C interface.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lapse/c/handles.hpp"
#include "lapse/ps/lease.hpp"

using lapse::c::as_keys;
using lapse::c::as_values;
using lapse::c::base;
using lapse::c::given;
using lapse::c::guarded;
using lapse::c::visit;

lapse_status lapse_lease_keys(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                              size_t count, lapse_lease** lease) {
  const lapse_lease_part part{table, keys, count};
  return lapse_lease_tables(worker, &part, 1, lease);
}

lapse_status lapse_lease_tables(lapse_worker* worker, const lapse_lease_part* parts, size_t part_count,
                                lapse_lease** lease) {
  return guarded([&] {
    lapse::Worker& caller = base(worker);
    given(lease, "lease");
    if (part_count > 0) given(parts, "parts");
    std::vector<lapse::LeaseKeys> wanted;
    std::vector<lapse_lease::Part> made;
    std::size_t end = 0;
    for (const lapse_lease_part& part : std::span(parts, part_count)) {
      visit(given(part.table, "table"),
            [&](const auto& typed) { wanted.emplace_back(typed, as_keys(part.keys, part.count)); });
      made.push_back({part.table, end += part.count});
    }
    lapse::Lease held = caller.lease(wanted);
    *lease =
        new lapse_lease{lapse::c::CountedHandle(worker->handles.leases), std::move(made), std::move(held)};
  });
}

namespace {

// Calls f(values, k, table) for the table of the lease's key i, which is key k of that table.
template <class F>
void with_leased(lapse_lease* lease, std::size_t i, F&& f) {
  const lapse_lease& held = given(lease, "lease");
  std::size_t first = 0;
  for (const lapse_lease::Part& part : held.parts) {
    if (i < part.end)
      return visit(*part.table, [&](const auto& typed) { f(held.lease.values(typed), i - first, typed); });
    first = part.end;
  }
  throw lapse::UsageError(fmt::format("index {}, from 0, of a lease of {} keys", i, first));
}

}  // namespace

lapse_status lapse_lease_value(lapse_lease* lease, size_t i, void** value, size_t* length, void** state,
                               size_t* state_length) {
  return guarded([&] {
    with_leased(lease, i, [&](const auto& values, std::size_t k, const auto& /*table*/) {
      given(value, "value") = values[k].data();
      if (length != nullptr) *length = values[k].size();
      if (state != nullptr) *state = values.state(k).data();
      if (state_length != nullptr) *state_length = values.state(k).size();
    });
  });
}

lapse_status lapse_lease_apply(lapse_lease* lease, size_t i, const void* update, size_t elements,
                               float scale) {
  return guarded([&] {
    with_leased(lease, i, [&](const auto& values, std::size_t k, const auto& table) {
      values.apply(k, as_values(table, update, elements), scale);
    });
  });
}

lapse_status lapse_lease_release(lapse_lease* lease) {
  return guarded([&] {
    const std::unique_ptr<lapse_lease> ending(lease);
    if (ending) ending->lease.release();
  });
}
