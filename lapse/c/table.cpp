// Tables and functions of the C interface.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "lapse/c/handles.hpp"
#include "lapse/c/rules.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/function.hpp"

namespace lapse::c {

namespace {

// --- specifications

ElementType type_of(lapse_element element) {
  constexpr std::array kTypes{ElementType::float32, ElementType::float64, ElementType::int32,
                              ElementType::int64};
  return choice_at<ConfigurationError>(kTypes, element, "an element type of number");
}

template <class T>
Initialiser initialiser_of(const lapse_table_spec& spec) {
  if (spec.initialise != nullptr && spec.initialiser != LAPSE_INITIALISE)
    throw ConfigurationError("a function initialise without LAPSE_INITIALISE");
  switch (spec.initialiser) {
    case LAPSE_ZERO:
      return Initialiser::zero();
    case LAPSE_CONSTANT:
      return Initialiser::constant(spec.first);
    case LAPSE_UNIFORM:
      return Initialiser::uniform(spec.first, spec.second);
    case LAPSE_NORMAL:
      return Initialiser::normal(spec.first, spec.second);
    case LAPSE_INITIALISE:
      if (spec.initialise == nullptr) throw ConfigurationError("LAPSE_INITIALISE without a function");
      return Initialiser::function<T>(
          [f = spec.initialise, context = spec.initialise_context](Key key, std::span<T> value) {
            check_callback(f(context, key.value(), value.data(), value.size()), "an initial value");
          });
  }
  throw ConfigurationError(fmt::format("an initialiser of number {}", static_cast<int>(spec.initialiser)));
}

std::optional<Consistency> consistency_of(lapse_consistency given) {
  switch (given.kind) {
    case LAPSE_CONSISTENCY_DEFAULT:
      return std::nullopt;
    case LAPSE_CONSISTENCY_SEQUENTIAL:
      return Consistency::sequential;
    case LAPSE_CONSISTENCY_EVENTUAL:
      return Consistency::eventual;
  }
  throw ConfigurationError(fmt::format("a consistency of kind {}", static_cast<int>(given.kind)));
}

template <class T>
TableOptions options_of(const lapse_table_spec& spec) {
  TableOptions options;
  if (spec.name != nullptr) options.name = spec.name;
  options.keys = spec.keys;
  options.sparse = spec.sparse != 0;
  options.length = spec.length;
  if (spec.lengths != nullptr) {
    options.lengths = [f = spec.lengths, context = spec.lengths_context](Key key) {
      return f(context, key.value());
    };
  }
  if (spec.max_keys != 0) options.max_keys = spec.max_keys;
  if (spec.memory_limit_bytes != 0) options.memory_limit_bytes = spec.memory_limit_bytes;
  options.initialiser = initialiser_of<T>(spec);
  options.seed = spec.seed;
  options.home =
      choice_at<ConfigurationError>(std::array{HomeMapKind::hash, HomeMapKind::range, HomeMapKind::custom},
                                    spec.home, "a home map of number");
  if (spec.home_function != nullptr && spec.home != LAPSE_HOME_CUSTOM)
    throw ConfigurationError("a function home_function without LAPSE_HOME_CUSTOM");
  if (spec.home_function != nullptr) {
    options.home_function = [f = spec.home_function, context = spec.home_context](Key key) {
      return f(context, key.value());
    };
  }
  options.update_rule = rule_of(spec.rule, element_type<T>());
  if (const auto caches = choice_of(spec.location_caches, "location_caches"))
    options.location_caches = *caches;
  options.consistency = consistency_of(spec.consistency);
  return options;
}

// Throws unless the structure is of this version.
const lapse_table_spec& checked(const lapse_table_spec* spec) {
  const lapse_table_spec& wanted = given(spec, "spec");
  check_size(wanted, "lapse_table_spec");
  return wanted;
}

// `limits`: null for none.
void set_limits(TableOptions& options, const lapse_push_limits* limits) {
  if (limits == nullptr) return;
  check_size(*limits, "lapse_push_limits");
  if (limits->not_finite < LAPSE_NOT_FINITE_ALLOW || limits->not_finite > LAPSE_NOT_FINITE_REFUSE) {
    throw ConfigurationError(
        fmt::format("not_finite is {}: expected LAPSE_NOT_FINITE_ALLOW, _COUNT or _REFUSE",
                    static_cast<int>(limits->not_finite)));
  }
  constexpr std::array kChoices{NotFinite::allow, NotFinite::count, NotFinite::refuse};
  options.not_finite = kChoices[static_cast<std::size_t>(limits->not_finite)];
  if (limits->max_norm != 0) options.max_push_norm = limits->max_norm;
}

// `policy`: null for none.
void set_policy(TableOptions& options, const char* policy) {
  if (policy == nullptr) return;
  if (options.consistency) {
    throw ConfigurationError(
        fmt::format("consistency policy '{}': expected spec->consistency to be LAPSE_CONSISTENCY_DEFAULT, "
                    "it is '{}'",
                    policy, options.consistency->to_string()));
  }
  options.consistency = Consistency::parse(policy);
}

}  // namespace

}  // namespace lapse::c

using lapse::c::given;
using lapse::c::guarded;

void lapse_table_spec_init(lapse_table_spec* spec) {
  if (spec == nullptr) return;
  std::memset(spec, 0, sizeof *spec);
  spec->size = sizeof *spec;
  spec->length = 1;
  spec->location_caches = LAPSE_DEFAULT;
  spec->consistency.kind = LAPSE_CONSISTENCY_DEFAULT;
}

void lapse_push_limits_init(lapse_push_limits* limits) {
  if (limits == nullptr) return;
  *limits = {.size = sizeof *limits, .not_finite = LAPSE_NOT_FINITE_ALLOW, .max_norm = 0};
}

lapse_status lapse_table_create(lapse_server* server, const lapse_table_spec* spec, lapse_table** table) {
  return lapse_table_create_limited(server, spec, nullptr, table);
}

lapse_status lapse_table_create_limited(lapse_server* server, const lapse_table_spec* spec,
                                        const lapse_push_limits* limits, lapse_table** table) {
  return lapse_table_create_with_policy(server, spec, limits, nullptr, table);
}

lapse_status lapse_table_create_with_policy(lapse_server* server, const lapse_table_spec* spec,
                                            const lapse_push_limits* limits, const char* policy,
                                            lapse_table** table) {
  return guarded([&] {
    lapse_server& owner = given(server, "server");
    const lapse_table_spec& wanted = lapse::c::checked(spec);
    given(table, "table");
    owner.tables.push_back(lapse::visit_element(lapse::c::type_of(wanted.element), [&](auto element) {
      using T = decltype(element);
      // Before the collective call: an error in the options is thrown on this rank alone.
      lapse::TableOptions options = lapse::c::options_of<T>(wanted);
      lapse::c::set_limits(options, limits);
      lapse::c::set_policy(options, policy);
      return std::make_unique<lapse_table>(lapse_table{owner.manager ? owner.manager->create_table<T>(options)
                                                                     : owner.own->create_table<T>(options)});
    }));
    *table = owner.tables.back().get();
  });
}

lapse_status lapse_estimate_memory(const lapse_server* server, const lapse_table_spec* spec,
                                   uint64_t* bytes) {
  return guarded([&] {
    const lapse_server& asked = given(server, "server");
    const lapse_table_spec& wanted = lapse::c::checked(spec);
    given(bytes, "bytes") = lapse::visit_element(lapse::c::type_of(wanted.element), [&](auto element) {
      using T = decltype(element);
      const lapse::TableOptions options = lapse::c::options_of<T>(wanted);
      return (asked.manager ? asked.manager->estimate_memory<T>(options)
                            : asked.own->estimate_memory<T>(options))
          .total();
    });
  });
}

lapse_status lapse_table_memory_use(const lapse_server* server, const lapse_table* table, uint64_t* bytes) {
  return guarded([&] {
    const lapse::ParameterServer& asked = given(server, "server").server();
    given(bytes, "bytes") = lapse::c::visit(
        given(table, "table"), [&](const auto& typed) { return asked.memory_use(typed).total(); });
  });
}

lapse_status lapse_table_length(const lapse_table* table, uint64_t key, size_t* length) {
  return guarded([&] {
    const lapse::TableHandle& handle = given(table, "table").handle();
    // C++ does not check the key if all keys have one length.
    if (!handle.has(lapse::Key(key)))
      throw lapse::KeyOutOfRange(handle.name(), lapse::Key(key), handle.keys(),
                                 handle.state().definition().rank);
    given(length, "length") = handle.length(lapse::Key(key));
  });
}

lapse_status lapse_function_register(lapse_server* server, const char* name, lapse_element element,
                                     size_t argument_bytes, size_t result_bytes, lapse_key_function function,
                                     void* context, lapse_function** registered) {
  return guarded([&] {
    lapse_server& owner = given(server, "server");
    given(registered, "registered");
    if (function == nullptr) throw lapse::UsageError("function is NULL");
    if (argument_bytes > lapse::kMaxFunctionBytes || result_bytes > lapse::kMaxFunctionBytes) {
      throw lapse::ConfigurationError(
          fmt::format("a function with {} bytes of argument and {} of result: at most {} each",
                      argument_bytes, result_bytes, lapse::kMaxFunctionBytes));
    }
    lapse::RegisteredFunction definition;
    definition.name = &given(name, "name");
    definition.type = lapse::c::type_of(element);
    definition.argument_bytes = argument_bytes;
    definition.result_bytes = result_bytes;
    definition.run = [function, context](lapse::Key key, std::byte* value, std::size_t length,
                                         const std::byte* argument, std::byte* result) {
      lapse::c::check_callback(function(context, key.value(), value, length, argument, result),
                               "a registered function");
    };
    const lapse::RegisteredFunction& made = owner.server().register_function(std::move(definition));
    owner.functions.push_back(
        std::make_unique<lapse_function>(lapse_function{&made, owner.server().identity()}));
    *registered = owner.functions.back().get();
  });
}
