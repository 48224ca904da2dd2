#include "lapse/protocol/lease_request.hpp"

#include <algorithm>

#include "lapse/protocol/table_shard.hpp"

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
  Copy* const found = copy(item);
  return found != nullptr ? found->content.data() : item.table->store().leased_content(item.key);
}

}  // namespace lapse
