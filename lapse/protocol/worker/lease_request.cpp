#include "lapse/protocol/worker/lease_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

std::pair<std::uint32_t, std::uint64_t> LeaseRequest::order(const Item& item) {
  return {item.table->id().value(), item.key.value()};
}

LeaseRequest::Copy* LeaseRequest::copy(const Item& item) {
  if (copies.empty()) return nullptr;
  const auto found =
      std::ranges::lower_bound(copies, order(item), {}, [](const Copy& copy) { return order(copy.item); });
  return found != copies.end() && found->item == item ? &*found : nullptr;
}

std::byte* LeaseRequest::content(const Item& item) {
  if (Copy* const found = copy(item)) return found->content.data();
  const SlotWord word = item.table->store().word(item.key);
  if (!word.leased()) {
    throw ProtocolError(fmt::format("a worker holds key {} of table '{}', which is not leased",
                                    item.key.value(), item.table->name()));
  }
  return item.table->store().address(word.slot());
}

}  // namespace lapse
