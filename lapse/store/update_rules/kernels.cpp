// Compiled without contraction of products and sums, so that every instruction set gives the same bits.
#include "lapse/store/update_rules/kernels.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/store/update_rules/loops.hpp"

namespace lapse {

namespace {

// The loops compiled for one instruction set, as functions with that set as an attribute: the library needs
// neither global flags nor resolvers in the dynamic loader. A value shorter than a register goes to the
// Narrower set, because vectorised loops process such a rest element by element.
#define LAPSE_COMPILE_KERNELS(Name, Narrower, register_bytes, ...)                                          \
  template <class T>                                                                                        \
  struct Name {                                                                                             \
    __VA_ARGS__ static void add(T* value, const T* update, std::size_t n) { loops::add(value, update, n); } \
    __VA_ARGS__ static void axpy(T* value, T factor, const T* update, std::size_t n) {                      \
      loops::axpy(value, factor, update, n);                                                                \
    }                                                                                                       \
    __VA_ARGS__ static bool difference_rebase(const std::byte* value, std::byte* base, std::byte* out,      \
                                              std::size_t n) {                                              \
      return loops::difference_rebase(reinterpret_cast<const T*>(value), reinterpret_cast<T*>(base),        \
                                      reinterpret_cast<T*>(out), n);                                        \
    }                                                                                                       \
    __VA_ARGS__ static bool merge_refresh(std::byte* value, std::byte* base, const std::byte* main,         \
                                          std::size_t n) {                                                  \
      return loops::merge_refresh(reinterpret_cast<T*>(value), reinterpret_cast<T*>(base),                  \
                                  reinterpret_cast<const T*>(main), n);                                     \
    }                                                                                                       \
    __VA_ARGS__ static T dot(const T* a, const T* b, std::size_t n) {                                       \
      return loops::dot<register_bytes>(a, b, n);                                                           \
    }                                                                                                       \
    __VA_ARGS__ static bool all_finite(const T* elements, std::size_t n) {                                  \
      return loops::all_finite(elements, n);                                                                \
    }                                                                                                       \
    template <class Rule>                                                                                   \
    __VA_ARGS__ static void rule(const void* parameters, std::byte* value, const std::byte* update,         \
                                 std::size_t n, float scale) {                                              \
      if constexpr (!std::is_same_v<Name<T>, Narrower<T>>) {                                                \
        if (n * sizeof(T) < register_bytes) {                                                               \
          return Narrower<T>::template rule<Rule>(parameters, value, update, n, scale);                     \
        }                                                                                                   \
      }                                                                                                     \
      loops::run<register_bytes>(*static_cast<const Rule*>(parameters), reinterpret_cast<T*>(value),        \
                                 reinterpret_cast<const T*>(update), n, scale);                             \
    }                                                                                                       \
  };

LAPSE_COMPILE_KERNELS(Portable, Portable, 16)
#if defined(__GNUC__) && defined(__x86_64__)
#define LAPSE_X86_KERNELS 1
LAPSE_COMPILE_KERNELS(Avx2, Portable, 32, [[gnu::target("avx2"), gnu::noinline]])
LAPSE_COMPILE_KERNELS(Avx512, Avx2, 64,
                      [[gnu::target("avx512f,avx512vl,avx512dq,prefer-vector-width=512"), gnu::noinline]])
#endif

// With portable instructions only: one element is shorter than any register.
template <class Rule, std::size_t kStates, class T>
void element_loop(const void* parameters, std::byte* value, std::size_t length, const std::uint32_t* indices,
                  const std::byte* updates, std::size_t count, float scale) {
  loops::run_elements<kStates>(*static_cast<const Rule*>(parameters), reinterpret_cast<T*>(value), length,
                               indices, reinterpret_cast<const T*>(updates), count, scale);
}

template <template <class> class Compiled, class T>
constexpr Kernels<T> table() {
  using C = Compiled<T>;
  Kernels<T> kernels{};
  kernels.add = &C::add;
  kernels.axpy = &C::axpy;
  kernels.dot = &C::dot;
  kernels.difference_rebase = &C::difference_rebase;
  kernels.merge_refresh = &C::merge_refresh;
  kernels.add_rule = &C::template rule<loops::Add>;
  kernels.assign_rule = &C::template rule<loops::Assign>;
  kernels.add_elements = &element_loop<loops::Add, 0, T>;
  if constexpr (std::is_floating_point_v<T>) {
    kernels.all_finite = &C::all_finite;
    kernels.sgd = &C::template rule<Sgd>;
    kernels.adagrad = &C::template rule<Adagrad>;
    kernels.rowwise_adagrad = &C::template rule<RowwiseAdagrad>;
    kernels.adam = &C::template rule<Adam>;
    kernels.ftrl = &C::template rule<Ftrl>;
    kernels.sgd_elements = &element_loop<Sgd, 0, T>;
    kernels.adagrad_elements = &element_loop<Adagrad, 1, T>;
    kernels.ftrl_elements = &element_loop<Ftrl, 2, T>;
  }
  return kernels;
}

template <template <class> class Compiled, class T>
constexpr Kernels<T> kTable = table<Compiled, T>();

}  // namespace

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::portable:
      return "portable";
    case Isa::avx2:
      return "AVX2";
    case Isa::avx512:
      return "AVX-512";
  }
  return "unknown";
}

bool isa_available(Isa isa) {
#if defined(LAPSE_X86_KERNELS)
  if (isa == Isa::avx2) return __builtin_cpu_supports("avx2");
  if (isa == Isa::avx512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
  }
#endif
  return isa == Isa::portable;
}

Isa best_isa() {
  if (isa_available(Isa::avx512)) return Isa::avx512;
  return isa_available(Isa::avx2) ? Isa::avx2 : Isa::portable;
}

template <Element T>
const Kernels<T>& kernels_for(Isa isa) {
  if (!isa_available(isa)) {
    throw UsageError(
        fmt::format("there are no {} kernels on this processor or in this build; the widest are {}",
                    isa_name(isa), isa_name(best_isa())));
  }
#if defined(LAPSE_X86_KERNELS)
  if (isa == Isa::avx2) return kTable<Avx2, T>;
  if (isa == Isa::avx512) return kTable<Avx512, T>;
#endif
  return kTable<Portable, T>;
}

template const Kernels<float>& kernels_for<float>(Isa);
template const Kernels<double>& kernels_for<double>(Isa);
template const Kernels<std::int32_t>& kernels_for<std::int32_t>(Isa);
template const Kernels<std::int64_t>& kernels_for<std::int64_t>(Isa);

void detail::lengths_differ(std::string_view function, std::size_t first, std::size_t second) {
  throw UsageError(fmt::format("{}: the arrays have {} and {} elements: expected the same number", function,
                               first, second));
}

}  // namespace lapse
