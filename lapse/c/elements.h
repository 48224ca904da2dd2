/* Checks the element type of values, for programs in C11 and later. The last header of lapse/lapse.h.
 *
 * Calls with values pass the pointer's type in the upper bits of the number of elements. A call with a type
 * other than its table's returns LAPSE_ERROR_USAGE. Pointers to void, characters and structures are not
 * checked. Define LAPSE_UNCHECKED_ELEMENTS before the include to disable all checks. */
#ifndef LAPSE_C_ELEMENTS_H
#define LAPSE_C_ELEMENTS_H

#include <stddef.h>

#include "lapse/c/worker.h"

/* 0: no type; 1 + lapse_element; LAPSE_NO_ELEMENT: none that a table can have. */
#define LAPSE_ELEMENT_SHIFT 60
#define LAPSE_NO_ELEMENT 5

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && \
    !defined(LAPSE_UNCHECKED_ELEMENTS)

/* clang-format off */
#define LAPSE_TYPE_(type, code) type*: (size_t)(code) << LAPSE_ELEMENT_SHIFT, const type*: (size_t)(code) << LAPSE_ELEMENT_SHIFT
#define LAPSE_TYPE_OF_(values) _Generic((values), LAPSE_TYPE_(float, 1), LAPSE_TYPE_(double, 2), LAPSE_TYPE_(int, 3), LAPSE_TYPE_(unsigned int, 3), LAPSE_TYPE_(long, sizeof(long) == 8 ? 4 : 3), LAPSE_TYPE_(unsigned long, sizeof(long) == 8 ? 4 : 3), LAPSE_TYPE_(long long, 4), LAPSE_TYPE_(unsigned long long, 4), LAPSE_TYPE_(short, LAPSE_NO_ELEMENT), LAPSE_TYPE_(unsigned short, LAPSE_NO_ELEMENT), LAPSE_TYPE_(long double, LAPSE_NO_ELEMENT), LAPSE_TYPE_(_Bool, LAPSE_NO_ELEMENT), default: (size_t)0)
#define LAPSE_TYPED_(values, elements) ((elements) | LAPSE_TYPE_OF_(values))

/* Commas within an array literal make more macro arguments; such calls are left unchanged. */
#define LAPSE_PLAIN_(call, ...) call(__VA_ARGS__)
#define LAPSE_5_(call, a, b, values, n, c) call(a, b, values, LAPSE_TYPED_(values, n), c)
#define LAPSE_6_(call, a, b, c, d, values, n) call(a, b, c, d, values, LAPSE_TYPED_(values, n))
#define LAPSE_7_(call, a, b, c, d, values, n, e) call(a, b, c, d, values, LAPSE_TYPED_(values, n), e)
#define LAPSE_8_(call, a, b, c, d, values, n, e, f) call(a, b, c, d, values, LAPSE_TYPED_(values, n), e, f)
#define LAPSE_7E_(call, a, b, c, d, i, values, n) call(a, b, c, d, i, values, LAPSE_TYPED_(values, n))
#define LAPSE_8E_(call, a, b, c, d, i, values, n, e) call(a, b, c, d, i, values, LAPSE_TYPED_(values, n), e)
#define LAPSE_9E_(call, a, b, c, d, i, values, n, e, f) call(a, b, c, d, i, values, LAPSE_TYPED_(values, n), e, f)
#define LAPSE_LOCAL_(call, a, b, c, values, n, d) call(a, b, c, values, LAPSE_TYPED_(values, n), d)
#define LAPSE_P4_ LAPSE_PLAIN_, LAPSE_PLAIN_, LAPSE_PLAIN_, LAPSE_PLAIN_
#define LAPSE_P24_ LAPSE_P4_, LAPSE_P4_, LAPSE_P4_, LAPSE_P4_, LAPSE_P4_, LAPSE_P4_
/* Selects the macro for a call by its number of arguments, at most 32. */
#define LAPSE_PICK_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, macro, ...) macro
#define LAPSE_PICK_EXPANDED_(...) LAPSE_PICK_(__VA_ARGS__)
#define LAPSE_CALL_5_(macro, ...) LAPSE_PICK_EXPANDED_(__VA_ARGS__, LAPSE_P24_, LAPSE_PLAIN_, LAPSE_PLAIN_, LAPSE_PLAIN_, macro, LAPSE_P4_, 0)
#define LAPSE_CALL_6_(macro, ...) LAPSE_PICK_EXPANDED_(__VA_ARGS__, LAPSE_P24_, LAPSE_PLAIN_, LAPSE_PLAIN_, macro, LAPSE_P4_, LAPSE_PLAIN_, 0)
#define LAPSE_CALL_7_(macro, ...) LAPSE_PICK_EXPANDED_(__VA_ARGS__, LAPSE_P24_, LAPSE_PLAIN_, macro, LAPSE_P4_, LAPSE_PLAIN_, LAPSE_PLAIN_, 0)
#define LAPSE_CALL_8_(macro, ...) LAPSE_PICK_EXPANDED_(__VA_ARGS__, LAPSE_P24_, macro, LAPSE_P4_, LAPSE_PLAIN_, LAPSE_PLAIN_, LAPSE_PLAIN_, 0)
#define LAPSE_CALL_9_(macro, ...) LAPSE_PICK_EXPANDED_(__VA_ARGS__, LAPSE_P4_, LAPSE_P4_, LAPSE_P4_, LAPSE_P4_, LAPSE_P4_, LAPSE_PLAIN_, LAPSE_PLAIN_, LAPSE_PLAIN_, macro, LAPSE_P4_, LAPSE_P4_, 0)

#define lapse_pull(...) LAPSE_CALL_6_(LAPSE_6_, __VA_ARGS__)(lapse_pull, __VA_ARGS__)
#define lapse_push(...) LAPSE_CALL_6_(LAPSE_6_, __VA_ARGS__)(lapse_push, __VA_ARGS__)
#define lapse_set(...) LAPSE_CALL_6_(LAPSE_6_, __VA_ARGS__)(lapse_set, __VA_ARGS__)
#define lapse_pull_begin(...) LAPSE_CALL_7_(LAPSE_7_, __VA_ARGS__)(lapse_pull_begin, __VA_ARGS__)
#define lapse_set_begin(...) LAPSE_CALL_7_(LAPSE_7_, __VA_ARGS__)(lapse_set_begin, __VA_ARGS__)
#define lapse_push_begin(...) LAPSE_CALL_8_(LAPSE_8_, __VA_ARGS__)(lapse_push_begin, __VA_ARGS__)
#define lapse_pull_elements(...) LAPSE_CALL_7_(LAPSE_7E_, __VA_ARGS__)(lapse_pull_elements, __VA_ARGS__)
#define lapse_push_elements(...) LAPSE_CALL_7_(LAPSE_7E_, __VA_ARGS__)(lapse_push_elements, __VA_ARGS__)
#define lapse_pull_elements_begin(...) LAPSE_CALL_8_(LAPSE_8E_, __VA_ARGS__)(lapse_pull_elements_begin, __VA_ARGS__)
#define lapse_push_elements_begin(...) LAPSE_CALL_9_(LAPSE_9E_, __VA_ARGS__)(lapse_push_elements_begin, __VA_ARGS__)
#define lapse_pull_if_local(...) LAPSE_CALL_6_(LAPSE_LOCAL_, __VA_ARGS__)(lapse_pull_if_local, __VA_ARGS__)
#define lapse_lease_apply(...) LAPSE_CALL_5_(LAPSE_5_, __VA_ARGS__)(lapse_lease_apply, __VA_ARGS__)
#define lapse_sample_pull(...) LAPSE_CALL_6_(LAPSE_SAMPLE_, __VA_ARGS__)(lapse_sample_pull, __VA_ARGS__)
#define LAPSE_SAMPLE_(call, a, b, c, d, values, n) call(a, b, c, d, values, LAPSE_TYPED_(values, n))
/* clang-format on */

#endif
#endif
