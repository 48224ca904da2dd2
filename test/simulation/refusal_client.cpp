#include "test/simulation/refusal_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "lapse/ps/elements.hpp"
#include "test/support/element_calls.hpp"

namespace lapse::test {

namespace {
bool changes(Call call) {
  return call != Call::pull && call != Call::pull_elements;
}
}  // namespace

class RefusalClient::Pending final : public PendingCall {
 public:
  struct Of {
    Call call;
    Key key;
    std::size_t number = 0;  // in the log; unused for localize
    Asked asked;
  };

  Pending(RefusalClient& client, Of of, std::vector<Value> values)
      : PendingCall({}), client_(client), of_(std::move(of)), values_(std::move(values)), results_(1) {}
  ~Pending() override { detach(); }

  std::span<Value> values() { return values_; }
  std::span<CountResult> results() { return results_; }
  using PendingCall::set_operation;

 private:
  void answered() override {
    Counts counts;
    switch (of_.call) {
      case Call::localize:
        return;
      case Call::pull:
      case Call::pull_elements:
        counts = client_.layout(of_.key).counts(std::span<const Value>(values_));
        break;
      case Call::call:
        counts.assign(results_[0].before.begin(),
                      results_[0].before.begin() + static_cast<std::ptrdiff_t>(client_.layout_.workers));
        break;
      default:
        break;
    }
    client_.succeeded(of_.key, of_.number, changes(of_.call), std::move(counts));
  }
  bool failed(const Error& error) override {
    client_.check(of_.asked, error);
    ++(of_.call == Call::localize ? client_.refusals_.failed_localizes : client_.refusals_.failed_calls);
    return true;
  }

  RefusalClient& client_;
  Of of_;
  std::vector<Value> values_;
  std::vector<CountResult> results_;
};

RefusalClient::Asked RefusalClient::ask(std::span<const Key> keys, bool moves, bool may_lack_memory) const {
  Asked asked{{keys.begin(), keys.end()}, {}, moves, may_lack_memory};
  for (const Key key : keys) asked.existed.push_back(refusals_.exists(key));
  return asked;
}

void RefusalClient::check(const Asked& asked, const Error& error) const {
  const std::string text = error.what();
  const bool lacks_memory = dynamic_cast<const OutOfMemory*>(&error) != nullptr;
  for (std::size_t i = 0; i < asked.keys.size(); ++i) {
    const std::string place =
        fmt::format("key {} of table '{}' on rank ", shape_.name(asked.keys[i]).value(), table_.name());
    if (text.find(place) == std::string::npos) continue;
    if (asked.moves || (!asked.existed[i] && (!lacks_memory || asked.may_lack_memory))) return;
  }
  std::string keys;
  for (std::size_t i = 0; i < asked.keys.size(); ++i) {
    keys +=
        fmt::format(" {}{}", shape_.name(asked.keys[i]).value(), asked.existed[i] ? ", which existed" : "");
  }
  throw HistoryViolation(fmt::format("worker {} asked for the keys{} and got a failure that must not be: {}",
                                     index_, keys, text));
}

void RefusalClient::succeeded(Key key, std::size_t number, bool pushed, Counts counts) {
  log_.succeeded(key, number, std::move(counts));
  if (pushed) refusals_.set_exists(key);
}

std::unique_ptr<PendingCall> RefusalClient::call(Call call, std::span<const Key> keys) {
  switch (call) {
    case Call::pull:
    case Call::push:
    case Call::call:
    case Call::pull_elements:
      return value_call(call, keys[0]);
    case Call::push_elements:
      return value_call(ElementCalls<Value>::pushes(table_) ? call : Call::push, keys[0]);
    case Call::set:  // would undo other workers' counts
      return value_call(Call::push, keys[0]);
    case Call::localize:
      return localize(keys);
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

std::unique_ptr<PendingCall> RefusalClient::value_call(Call call, Key key) {
  const Key name = shape_.name(key);
  const bool pulls = call != Call::push && call != Call::push_elements;
  const bool pushes = changes(call);
  std::vector<Value> values = layout(key).unit<Value>(index_);
  if (!pushes) std::ranges::fill(values, 0);
  std::vector<std::uint32_t> indices(values.size());
  std::iota(indices.begin(), indices.end(), 0U);
  Pending::Of of{call, key, log_.called(key, pulls, pushes), ask(std::span(&key, 1), false, pushes)};
  const Asked asked = of.asked;
  auto pending = std::make_unique<Pending>(*this, std::move(of), std::move(values));
  const CountArgument argument{layout_.workers, index_};
  try {
    pending->set_operation(
        call == Call::pull            ? worker_.pull(table_, name, pending->values())
        : call == Call::push          ? worker_.push(table_, name, pending->values())
        : call == Call::pull_elements ? worker_.pull_elements(table_, name, indices, pending->values())
        : call == Call::push_elements ? worker_.push_elements(table_, name, indices, pending->values())
                                      : worker_.call(table_, function_, std::span(&name, 1),
                                                     std::span(&argument, 1), pending->results()));
  } catch (const UserCodeFailed& error) {
    check(asked, error);
    ++refusals_.failed_calls;
    return nullptr;
  }
  return pending;
}

std::unique_ptr<PendingCall> RefusalClient::localize(std::span<const Key> keys) {
  std::vector<Key> names;
  for (const Key key : keys) names.push_back(shape_.name(key));
  auto pending = std::make_unique<Pending>(*this, Pending::Of{Call::localize, keys[0], 0, ask(keys, true)},
                                           std::vector<Value>());
  pending->set_operation(worker_.localize(table_, names));
  return pending;
}

void RefusalClient::pull_if_local(Key key) {
  const std::size_t number = log_.called(key, true, false);
  std::vector<Value> value(layout(key).length());
  try {
    if (worker_.pull_if_local(table_, shape_.name(key), value))
      succeeded(key, number, false, layout(key).counts(std::span<const Value>(value)));
  } catch (const UserCodeFailed& error) {
    check(ask(std::span(&key, 1), false), error);
  }
}

void RefusalClient::update_if_local(Key key) {
  const std::size_t number = log_.called(key, true, true);
  Counts counts;
  const bool here = worker_.update_if_local(table_, shape_.name(key), [&](std::span<Value> value) {
    counts = layout(key).counts(std::span<const Value>(value));
    layout(key).add_unit(index_, value);
  });
  if (here) succeeded(key, number, true, std::move(counts));
}

LeaseKeys RefusalClient::lease_keys(std::span<const Key> keys) {
  leased_.assign(keys.begin(), keys.end());
  leased_names_.clear();
  for (const Key key : keys) leased_names_.push_back(shape_.name(key));
  lease_asked_ = ask(keys, true);
  return {table_, leased_names_};
}

void RefusalClient::touch(const Lease& lease, std::size_t position) {
  const Key key = leased_[position];
  const std::size_t number = log_.called(key, true, true);
  const LeasedValues<Value> values = lease.values(table_);
  Counts counts = layout(key).counts(std::span<const Value>(values[position]));
  values.apply(position, layout(key).unit<Value>(index_));
  succeeded(key, number, true, std::move(counts));
}

bool RefusalClient::expects_refusal(const Error& error) {
  check(lease_asked_, error);
  ++refusals_.failed_leases;
  return true;
}

}  // namespace lapse::test
