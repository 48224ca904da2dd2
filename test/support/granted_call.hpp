// A push of a random workload that homes of keys grant.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "test/support/random_workload_client.hpp"

namespace lapse::test {

// The worker waits in it until it may change the keys.
template <class T>
class GrantedCall final : public PendingCall {
 public:
  // Requires that the table bounds what all workers together change. Calls `all_changed` at the end.
  GrantedCall(Worker& worker, const TableHandle& table, std::vector<Key> keys, std::vector<T> updates,
              float scale, std::function<void()> all_changed)
      : PendingCall(Operation()),
        keys_(std::move(keys)),
        updates_(std::move(updates)),
        all_changed_(std::move(all_changed)),
        steps_(begin_granted_push(worker, table, keys_, reinterpret_cast<const std::byte*>(updates_.data()),
                                  scale)) {
    steps_->advance();
  }
  CallSteps* steps() override { return steps_.get(); }

 private:
  void answered() override { all_changed_(); }

  std::vector<Key> keys_;
  std::vector<T> updates_;
  std::function<void()> all_changed_;
  std::unique_ptr<CallSteps> steps_;
};

}  // namespace lapse::test
