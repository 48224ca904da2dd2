// Python functions that the library calls, on any of its threads.
//
// Such a thread may hold a key's latch and the progress lock when it takes the interpreter's lock. So no
// thread may wait for the library while it holds the interpreter's lock.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/python/arrays.hpp"
#include "lapse/python/raised.hpp"
#include "lapse/store/update_rules/update_rule.hpp"
#include "lapse/store/values/initialiser.hpp"

namespace lapse::python {

// A constant Python object that threads can copy and drop without the interpreter's lock.
class SharedObject {
 public:
  explicit SharedObject(py::object object)
      : object_(new py::object(std::move(object)), [](const py::object* ended) {
          const py::gil_scoped_acquire locked;
          delete ended;
        }) {}

  // Calls f(object) with the lock. Turns Python exceptions into an Error with their text.
  template <class F>
  void use(F&& f) const {
    const py::gil_scoped_acquire locked;
    try {
      f(*object_);
    } catch (py::error_already_set& error) {
      throw Error(text_of(exception_of(error)));
    } catch (const py::builtin_exception& error) {
      throw Error(error.what());
    }
  }

 private:
  std::shared_ptr<const py::object> object_;
};

py::dtype dtype_of(ElementType type);
ElementType element_of(const py::dtype& type);

// Copies elements to an array, and back: a Python array may outlive the memory.
py::array copy_of(ElementType type, const std::byte* elements, std::size_t count);
// Throws ValueError if the application has resized it.
void copy_back(const py::array& from, std::span<std::byte> to);

// From a lapse.Rule.
UpdateRule custom_rule(const py::object& rule, ElementType type);

// f(key) returns the value, or one number for all of its elements.
template <class T>
Initialiser initialiser_by(const py::object& function) {
  return Initialiser::function<T>([shared = SharedObject(function)](Key key, std::span<T> value) {
    shared.use([&](const py::object& f) {
      py::array_t<T> made(static_cast<py::ssize_t>(value.size()));
      made.attr("__setitem__")(py::ellipsis(), converted(f(key.value()), "an initial value", made.dtype()));
      copy_back(made, std::as_writable_bytes(value));
    });
  });
}

}  // namespace lapse::python
