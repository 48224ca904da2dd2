#include "lapse/protocol/records/element_records.hpp"

#include <algorithm>
#include <span>

#include "lapse/core/error.hpp"
#include "lapse/protocol/table/element_payload.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

void check_elements(const TableShard& table, const OperationPart& part, std::size_t bytes) {
  const std::size_t element = element_bytes(table.sizes().layout().type);
  if (bytes < ElementPayload::kCountBytes ||
      bytes != ElementPayload::bytes(part.kind, ElementPayload::count(part.value), element)) {
    throw ProtocolError("a message holds an operation on elements of a wrong length");
  }
  const ElementRun run = ElementPayload::run(part.value);
  const std::size_t length = table.sizes().length(part.key);
  const auto exists = [length](std::uint32_t index) { return index < length; };
  if (run.count == 0 || !std::ranges::all_of(std::span(run.indices, run.count), exists))
    throw ProtocolError("a message names an element that a value does not have");
  if (part.kind == OperationKind::push_elements && !table.definition().rule.is_elementwise())
    throw ProtocolError("a message pushes to elements of a table whose rule cannot");
}

}  // namespace lapse
