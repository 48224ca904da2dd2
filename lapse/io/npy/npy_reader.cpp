#include "lapse/io/npy/npy_reader.hpp"

#include "lapse/io/npy/npy_input.hpp"

namespace lapse::io {

template <NpyElement T>
NpyArray<T> read_npy(const std::string& path) {
  NpyInput input(path);
  input.require(npy_descriptor<T>(), sizeof(T));
  NpyArray<T> array{input.shape(), std::vector<T>(input.shape()[0] * input.columns())};
  input.read(array.values.data(), array.values.size() * sizeof(T));
  return array;
}

template NpyArray<float> read_npy<float>(const std::string& path);
template NpyArray<double> read_npy<double>(const std::string& path);
template NpyArray<std::int32_t> read_npy<std::int32_t>(const std::string& path);
template NpyArray<std::int64_t> read_npy<std::int64_t>(const std::string& path);
template NpyArray<std::uint64_t> read_npy<std::uint64_t>(const std::string& path);

}  // namespace lapse::io
