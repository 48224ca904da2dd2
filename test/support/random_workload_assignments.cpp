#include "test/support/random_workload_assignments.hpp"

#include <algorithm>
#include <utility>

#include "test/support/element_calls.hpp"

namespace lapse::test {

class AssignmentClient::PendingPull final : public PendingCall {
 public:
  PendingPull(Operation operation, AssignmentLog& log, std::vector<std::int64_t> values,
              std::vector<Key> keys, std::vector<std::size_t> positions)
      : PendingCall(std::move(operation)),
        log_(log),
        values_(std::move(values)),
        keys_(std::move(keys)),
        positions_(std::move(positions)) {}
  ~PendingPull() override { detach(); }

 private:
  void answered() override {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      log_.end_read(
          keys_[i], positions_[i],
          Assignment::from(std::span(values_).subspan(i * Assignment::kLength, Assignment::kLength)));
    }
  }
  AssignmentLog& log_;
  std::vector<std::int64_t> values_;
  std::vector<Key> keys_;
  std::vector<std::size_t> positions_;
};

std::unique_ptr<PendingCall> AssignmentClient::call(Call call, std::span<const Key> keys) {
  switch (call) {
    case Call::pull:
      return pull(keys);
    case Call::pull_elements:
      return pull_elements(keys);
    case Call::push:
    case Call::set:
    case Call::call:
    case Call::push_elements:  // The rule assigns.
      return write(call, keys);
    case Call::localize:
      return std::make_unique<PendingCall>(worker_.localize(table_, names(keys)));
    case Call::pull_if_local:
      pull_if_local(keys[0]);
      break;
    case Call::update_if_local:
      update_if_local(keys[0]);
      break;
    case Call::lease:
    case Call::intent:
    case Call::sync:
      break;
  }
  return nullptr;
}

std::vector<Key> AssignmentClient::names(std::span<const Key> keys) const {
  std::vector<Key> result;
  for (const Key key : keys) result.push_back(shape_.name(key));
  return result;
}

LeaseKeys AssignmentClient::lease_keys(std::span<const Key> keys) {
  leased_.assign(keys.begin(), keys.end());
  leased_names_ = names(keys);
  return {table_, leased_names_};
}

void AssignmentClient::touch(const Lease& lease, std::size_t position) {
  const Key key = leased_[position];
  const std::span<std::int64_t> value = lease.values(table_)[position];
  const std::size_t read = log_.begin_read(key);
  log_.end_read(key, read, Assignment::from(value));
  std::ranges::copy(log_.write(key).value(), value.begin());
}

std::unique_ptr<PendingCall> AssignmentClient::pull(std::span<const Key> keys) {
  std::vector<std::size_t> positions;
  for (const Key key : keys) positions.push_back(log_.begin_read(key));
  std::vector<std::int64_t> values(keys.size() * Assignment::kLength);
  Operation operation = keys.size() == 1 ? worker_.pull(table_, shape_.name(keys[0]), values)
                                         : worker_.pull(table_, names(keys), values);
  return std::make_unique<PendingPull>(std::move(operation), log_, std::move(values),
                                       std::vector<Key>(keys.begin(), keys.end()), std::move(positions));
}

std::unique_ptr<PendingCall> AssignmentClient::pull_elements(std::span<const Key> keys) {
  std::vector<std::size_t> positions;
  std::vector<Key> read;
  ElementCalls<std::int64_t> pairs;
  for (const Key key : keys) {
    if (!pairs.add(shape_.name(key), Assignment::kLength)) continue;
    positions.push_back(log_.begin_read(key));
    read.push_back(key);
  }
  std::vector<std::int64_t> values(pairs.size());
  Operation operation = pairs.pull(worker_, table_, values);
  return std::make_unique<PendingPull>(std::move(operation), log_, std::move(values), std::move(read),
                                       std::move(positions));
}

std::unique_ptr<PendingCall> AssignmentClient::write(Call call, std::span<const Key> keys) {
  std::vector<std::int64_t> values;
  for (const Key key : keys) {
    const std::vector<std::int64_t> value = log_.write(key).value();
    values.insert(values.end(), value.begin(), value.end());
  }
  const bool one = keys.size() == 1;
  Operation operation;
  if (call == Call::set) {
    operation =
        one ? worker_.set(table_, shape_.name(keys[0]), values) : worker_.set(table_, names(keys), values);
  } else {
    operation =
        one ? worker_.push(table_, shape_.name(keys[0]), values) : worker_.push(table_, names(keys), values);
  }
  // The call has consumed the values; they become values that no worker writes.
  std::ranges::fill(values, 77);
  return std::make_unique<PendingCall>(std::move(operation));
}

void AssignmentClient::pull_if_local(Key key) {
  std::vector<std::int64_t> value(Assignment::kLength);
  const std::size_t position = log_.begin_read(key);
  if (worker_.pull_if_local(table_, shape_.name(key), value))
    log_.end_read(key, position, Assignment::from(value));
}

void AssignmentClient::update_if_local(Key key) {
  worker_.update_if_local(table_, shape_.name(key), [&](std::span<std::int64_t> value) {
    const std::size_t position = log_.begin_read(key);
    log_.end_read(key, position, Assignment::from(value));
    std::ranges::copy(log_.write(key).value(), value.begin());
  });
}

}  // namespace lapse::test
