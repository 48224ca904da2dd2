#include "lapse/python/key_functions.hpp"

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lapse/python/callbacks.hpp"

namespace lapse::python {

namespace {

// Returns the function's result for the key, a whole number from `least` to `most`.
std::int64_t ask(const SharedObject& function, Key key, const char* what, std::int64_t least,
                 std::int64_t most) {
  std::int64_t number = 0;
  function.use([&](const py::object& f) {
    const py::object returned = f(key.value());
    const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(returned.ptr()));
    if (!whole) throw py::error_already_set();
    int overflow = 0;
    number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    if (overflow != 0 || number < least || number > most)
      throw Error(std::string(what) + " " + py::str(returned).cast<std::string>() + " of key " +
                  std::to_string(key.value()) + ": expected " + std::to_string(least) + " to " +
                  std::to_string(most));
  });
  return number;
}

std::vector<std::int64_t> numbers_of(const py::object& array) {
  const auto numbers = array.cast<py::array_t<std::int64_t>>();
  return {numbers.data(), numbers.data() + numbers.size()};
}

// Caches the results of a function for the keys of a dense table. Any thread may ask.
class RememberedHomes {
 public:
  RememberedHomes(const py::object& function, std::uint64_t keys) : function_(function), homes_(keys) {}

  std::int32_t home(Key key) const {
    std::atomic<std::int32_t>& known = homes_[key.index()];
    if (const std::int32_t rank = known.load(std::memory_order_relaxed); rank != 0) return rank - 1;
    const auto rank =
        static_cast<std::int32_t>(ask(function_, key, "the home", 0, std::numeric_limits<int>::max() - 1));
    known.store(rank + 1, std::memory_order_relaxed);
    return rank;
  }

 private:
  SharedObject function_;
  mutable std::vector<std::atomic<std::int32_t>> homes_;  // rank + 1; 0: not asked yet
};

}  // namespace

std::function<std::size_t(Key)> lengths_by_key(const py::object& given) {
  if (py::isinstance<py::array>(given)) {
    return [numbers = std::make_shared<const std::vector<std::int64_t>>(numbers_of(given))](Key key) {
      return static_cast<std::size_t>((*numbers)[key.index()]);
    };
  }
  return [function = SharedObject(given)](Key key) {
    return static_cast<std::size_t>(
        ask(function, key, "the length", 1, std::numeric_limits<std::int32_t>::max()));
  };
}

std::function<std::int32_t(Key)> homes_by_key(const py::object& given, std::uint64_t keys) {
  if (py::isinstance<py::array>(given)) {
    return [numbers = std::make_shared<const std::vector<std::int64_t>>(numbers_of(given))](Key key) {
      return static_cast<std::int32_t>((*numbers)[key.index()]);
    };
  }
  if (keys > 0) {
    return
        [homes = std::make_shared<const RememberedHomes>(given, keys)](Key key) { return homes->home(key); };
  }
  return [function = SharedObject(given)](Key key) {
    return static_cast<std::int32_t>(
        ask(function, key, "the home", 0, std::numeric_limits<std::int32_t>::max()));
  };
}

}  // namespace lapse::python
