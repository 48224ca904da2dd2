// Arrays in .npy files, of all element types.
#include <cstring>
#include <string>

#include "lapse/core/file_error.hpp"
#include "lapse/io/npy/npy_reader.hpp"
#include "lapse/io/npy/npy_writer.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

template <class T>
void read(const std::string& path) {
  try {
    const io::NpyArray<T> array = io::read_npy<T>(path);
    std::size_t elements = 1;
    for (const std::size_t length : array.shape) elements *= length;
    check(array.shape.size() <= 2 && elements == array.values.size(), "the values are those of the shape");
    io::write_npy(path, array.shape, std::span<const T>(array.values));
    const io::NpyArray<T> again = io::read_npy<T>(path);
    check(again.shape == array.shape && again.values.size() == elements &&
              (elements == 0 ||
               std::memcmp(again.values.data(), array.values.data(), elements * sizeof(T)) == 0),
          "an array survives");
  } catch (const FileError&) {
    // Refused.
  }
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  static const FuzzFile file;
  FuzzInput input(data, size);
  const std::uint8_t type = input.byte() % 5;
  const std::string path = file.write(input.rest());
  switch (type) {
    case 0:
      read<float>(path);
      break;
    case 1:
      read<double>(path);
      break;
    case 2:
      read<std::int32_t>(path);
      break;
    case 3:
      read<std::int64_t>(path);
      break;
    default:
      read<std::uint64_t>(path);
      break;
  }
  return 0;
}
