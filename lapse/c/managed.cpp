// Clocks, intents and samples of the C interface.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "adapm/distribution.hpp"
#include "lapse/c/handles.hpp"

namespace lapse::c {

adapm::IntentWorker& managed(lapse_worker* worker) {
  lapse_worker& handle = given(worker, "worker");
  if (handle.managed == nullptr)
    throw UsageError("this worker has no intents: make its server by lapse_manager_create");
  return *handle.managed;
}

namespace {

adapm::KeyRange range_of(std::uint64_t first, std::uint64_t count) {
  if (count > UINT64_MAX - first)
    throw UsageError(fmt::format("{} keys from {} on: there are fewer", count, first));
  return {.first = Key(first), .end = Key(first + count)};
}

adapm::SamplingOptions options_of(const lapse_sampler_options& wanted) {
  adapm::SamplingOptions options;
  options.with_replacement = wanted.with_replacement != 0;
  if (wanted.scheme < LAPSE_SCHEME_DEFAULT || wanted.scheme > LAPSE_LOCAL_SCHEME)
    throw UsageError(fmt::format("a scheme of number {}", static_cast<int>(wanted.scheme)));
  if (wanted.scheme != LAPSE_SCHEME_DEFAULT)
    options.scheme = adapm::kSamplingSchemes[static_cast<std::size_t>(wanted.scheme)];
  options.postpone = choice_of(wanted.postpone, "postpone");
  if (wanted.pool_keys != 0) options.pool_keys = wanted.pool_keys;
  if (wanted.pool_uses != 0) options.pool_uses = wanted.pool_uses;
  if (wanted.seed != nullptr) options.seed = *wanted.seed;
  return options;
}

lapse_sampler_options options_with(lapse_scheme scheme, int with_replacement) {
  lapse_sampler_options options;
  lapse_sampler_options_init(&options);
  options.scheme = scheme;
  options.with_replacement = with_replacement;
  return options;
}

lapse_status make_sampler(lapse_server* server, const lapse_table* table,
                          const lapse_sampler_options* options, lapse_sampler** sampler,
                          auto&& distribution) {
  return guarded([&] {
    lapse_server& owner = given(server, "server");
    const lapse_table& of = given(table, "table");
    given(sampler, "sampler");
    if (!owner.manager) throw UsageError("a sampler of a server: make it by lapse_manager_create");
    if (options != nullptr) check_size(*options, "lapse_sampler_options");
    const adapm::SamplingOptions wanted =
        options_of(options == nullptr ? options_with(LAPSE_SCHEME_DEFAULT, 1) : *options);
    owner.samplers.push_back(visit(of, [&](const auto& typed) {
      return std::make_unique<lapse_sampler>(
          lapse_sampler{owner.manager->create_sampler(typed, distribution(), wanted)});
    }));
    *sampler = owner.samplers.back().get();
  });
}

// Signals an intent for the keys that `keys` returns.
lapse_status signal(lapse_worker* worker, const lapse_table* table, std::int64_t start, std::int64_t end,
                    adapm::IntentType type, auto&& keys) {
  return guarded([&] {
    adapm::IntentWorker& caller = managed(worker);
    visit(given(table, "table"),
          [&](const auto& typed) { caller.intent(typed, keys(), clock_of(start), clock_of(end), type); });
  });
}

adapm::KeyRange range_to(std::uint64_t first, std::uint64_t past) {
  return {.first = Key(first), .end = Key(past)};
}

}  // namespace

}  // namespace lapse::c

using lapse::c::as_keys;
using lapse::c::clock_of;
using lapse::c::given;
using lapse::c::guarded;
using lapse::c::managed;
using lapse::c::visit;

lapse_status lapse_intent(lapse_worker* worker, const lapse_table* table, const uint64_t* keys, size_t count,
                          int64_t start, int64_t end) {
  return lapse::c::signal(worker, table, start, end, adapm::IntentType::read_write,
                          [&] { return as_keys(keys, count); });
}
lapse_status lapse_intent_read(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                               size_t count, int64_t start, int64_t end) {
  return lapse::c::signal(worker, table, start, end, adapm::IntentType::read_only,
                          [&] { return as_keys(keys, count); });
}
lapse_status lapse_intent_range(lapse_worker* worker, const lapse_table* table, uint64_t first, uint64_t past,
                                int64_t start, int64_t end) {
  return lapse::c::signal(worker, table, start, end, adapm::IntentType::read_write,
                          [&] { return lapse::c::range_to(first, past); });
}
lapse_status lapse_intent_range_read(lapse_worker* worker, const lapse_table* table, uint64_t first,
                                     uint64_t past, int64_t start, int64_t end) {
  return lapse::c::signal(worker, table, start, end, adapm::IntentType::read_only,
                          [&] { return lapse::c::range_to(first, past); });
}

lapse_status lapse_advance_clock(lapse_worker* worker) {
  return guarded([&] {
    lapse_worker& handle = given(worker, "worker");
    if (handle.managed != nullptr) return handle.managed->advance_clock();
    lapse::c::base(worker).advance_clock();
  });
}

lapse_status lapse_current_clock(const lapse_worker* worker, int64_t* clock) {
  return guarded([&] { given(clock, "clock") = given(worker, "worker").worker->current_clock().value(); });
}

lapse_status lapse_set_frequencies(lapse_server* server, const lapse_table* table, const uint64_t* counts,
                                   size_t count) {
  return guarded([&] {
    const lapse_server& owner = given(server, "server");
    const lapse_table& of = given(table, "table");
    if (count > 0) given(counts, "counts");
    if (!owner.manager)
      throw lapse::UsageError("frequencies of keys of a server: make it by lapse_manager_create");
    visit(of, [&](const auto& typed) {
      owner.manager->set_frequencies(typed, std::span<const std::uint64_t>(counts, count));
    });
  });
}

// --- samples

lapse_status lapse_sampler_uniform(lapse_server* server, const lapse_table* table, uint64_t first,
                                   uint64_t count, lapse_scheme scheme, int with_replacement,
                                   lapse_sampler** sampler) {
  const lapse_sampler_options options = lapse::c::options_with(scheme, with_replacement);
  return lapse_sampler_create(server, table, first, count, 0, nullptr, &options, sampler);
}
lapse_status lapse_sampler_log_uniform(lapse_server* server, const lapse_table* table, uint64_t first,
                                       uint64_t count, lapse_scheme scheme, int with_replacement,
                                       lapse_sampler** sampler) {
  const lapse_sampler_options options = lapse::c::options_with(scheme, with_replacement);
  return lapse_sampler_create(server, table, first, count, 1, nullptr, &options, sampler);
}
lapse_status lapse_sampler_weighted(lapse_server* server, const lapse_table* table, uint64_t first,
                                    const double* weights, size_t count, lapse_scheme scheme,
                                    int with_replacement, lapse_sampler** sampler) {
  const lapse_sampler_options options = lapse::c::options_with(scheme, with_replacement);
  return lapse::c::make_sampler(server, table, &options, sampler, [&] {
    if (count > 0) given(weights, "weights");
    return adapm::Distribution::weighted(std::span<const double>(weights, count), lapse::Key(first));
  });
}

void lapse_sampler_options_init(lapse_sampler_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->size = sizeof *options;
  options->scheme = LAPSE_SCHEME_DEFAULT;
  options->with_replacement = 1;
  options->postpone = LAPSE_DEFAULT;
}

lapse_status lapse_sampler_create(lapse_server* server, const lapse_table* table, uint64_t first,
                                  uint64_t count, int log_uniform, const double* weights,
                                  const lapse_sampler_options* options, lapse_sampler** sampler) {
  return lapse::c::make_sampler(server, table, options, sampler, [&] {
    if (weights != nullptr && log_uniform != 0)
      throw lapse::UsageError("a sampler with weights that is log_uniform: expected one of them");
    if (weights != nullptr)
      return adapm::Distribution::weighted(std::span<const double>(weights, count), lapse::Key(first));
    return log_uniform != 0 ? adapm::Distribution::log_uniform(lapse::c::range_of(first, count))
                            : adapm::Distribution::uniform(lapse::c::range_of(first, count));
  });
}

lapse_status lapse_sample_prepare(lapse_worker* worker, const lapse_sampler* sampler, size_t keys,
                                  int64_t start, int64_t end, lapse_sample** sample) {
  return guarded([&] {
    adapm::IntentWorker& caller = managed(worker);
    given(sample, "sample");
    *sample = std::visit(
        [&](const auto& typed) {
          return new lapse_sample{lapse::c::CountedHandle(worker->handles.samples),
                                  caller.prepare_sample(typed, keys, clock_of(start), clock_of(end))};
        },
        given(sampler, "sampler").sampler);
  });
}

lapse_status lapse_sample_pull(lapse_worker* worker, lapse_sample* sample, uint64_t* keys, size_t count,
                               void* values, size_t elements) {
  return guarded([&] {
    adapm::IntentWorker& caller = managed(worker);
    std::visit(
        [&](auto& typed) {
          caller
              .pull_sample(typed, as_keys(keys, count), lapse::c::as_values(typed.table(), values, elements))
              .wait();
        },
        given(sample, "sample").sample);
  });
}

lapse_status lapse_sample_take(lapse_worker* worker, lapse_sample* sample, uint64_t* keys, size_t count) {
  return guarded([&] {
    adapm::IntentWorker& caller = managed(worker);
    std::visit([&](auto& typed) { caller.take_keys(typed, as_keys(keys, count)); },
               given(sample, "sample").sample);
  });
}

void lapse_sample_finish(lapse_sample* sample) {
  delete sample;
}
