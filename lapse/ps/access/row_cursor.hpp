// Iterates over the keys of a call, with each key's rows of updates and destination.
#pragma once

#include <cstddef>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/protocol/table/registered_function.hpp"
#include "lapse/ps/access/access_request.hpp"
#include "lapse/store/values/value_sizes.hpp"

namespace lapse {

// One key of a call.
struct Row {
  Key key;
  std::size_t offset = 0;  // of the row at the destination, in units of OperationState::row_unit
  std::span<const std::byte> update;
  std::byte* destination = nullptr;  // null if the call has none
};

// Thread safety: the worker's. Keys, updates and the table's sizes outlive the cursor.
class RowCursor {
 public:
  RowCursor(const ValueSizes& sizes, std::span<const Key> keys, const AccessRequest& request)
      : sizes_(&sizes),
        keys_(keys),
        request_(&request),
        call_(request.operation.kind == OperationKind::call),
        // Values are counted in elements, arguments and results as a whole.
        update_unit_(call_ ? request.operation.function->argument_bytes : element_bytes(sizes.layout().type)),
        destination_unit_(call_ ? request.operation.function->result_bytes
                                : element_bytes(sizes.layout().type)),
        same_length_(call_             ? 1
                     : sizes.uniform() ? sizes.layout().length
                                       : 0) {}

  bool at_end() const { return position_ == keys_.size(); }
  std::span<const Key> keys() const { return keys_; }
  std::size_t position() const { return position_; }
  std::span<const Key> remaining() const { return keys_.subspan(position_); }

  Row next() {
    Row row;
    row.key = keys_[position_++];
    row.offset = offset_;
    const std::size_t length = same_length_ != 0 ? same_length_ : sizes_->length(row.key);
    offset_ += length;
    if (request_->updates != nullptr)
      row.update = {request_->updates + row.offset * update_unit_, length * update_unit_};
    if (request_->destination != nullptr)
      row.destination = request_->destination + row.offset * destination_unit_;
    return row;
  }
  // Moves back before this row, the last that next() has returned.
  void step_back(const Row& row) {
    --position_;
    offset_ = row.offset;
  }
  // Skips the next keys, whose values have one length.
  void skip(std::size_t keys) {
    position_ += keys;
    offset_ += keys * sizes_->layout().length;
  }

 private:
  const ValueSizes* sizes_;
  std::span<const Key> keys_;
  const AccessRequest* request_;
  bool call_;
  std::size_t update_unit_;
  std::size_t destination_unit_;
  std::size_t same_length_;  // of all rows; 0 if it differs
  std::size_t position_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace lapse
