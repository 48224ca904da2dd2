// .npy files: written files are read back and equal NumPy's byte for byte; damaged files are refused.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/io/files/output_file.hpp"
#include "lapse/io/npy/npy_reader.hpp"
#include "lapse/io/npy/npy_writer.hpp"
#include "test/support/catch.hpp"
#include "test/support/file_limit.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using lapse::io::NpyShape;
using lapse::io::read_npy;
using lapse::io::write_npy;
using lapse::test::content_of;
using lapse::test::FileLimit;
using lapse::test::TemporaryDirectory;

namespace {

// A version 1 file with this header dictionary, followed by the given number of zero bytes.
std::string npy(const std::string& dictionary, std::size_t data_bytes) {
  const std::string header = dictionary + "\n";
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header + std::string(data_bytes, '\0');
}

void check_refused(const std::string& content, const std::string& words) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.npy", content);
  CAPTURE(content);
  CHECK_THROWS_AS(read_npy<float>(path), lapse::FileError);
  CHECK_THROWS_WITH(read_npy<float>(path), Contains(words));
}

}  // namespace

TEMPLATE_TEST_CASE("arrays of one and two dimensions survive a file", "", float, double, std::int32_t,
                   std::int64_t) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.npy";
  const NpyShape shape = GENERATE(NpyShape{6}, NpyShape{2, 3}, NpyShape{6, 1}, NpyShape{0}, NpyShape{0, 4});
  std::vector<TestType> values{
      1, -2, std::numeric_limits<TestType>::max(), 0, std::numeric_limits<TestType>::lowest(), 6};
  if (shape[0] == 0) values.clear();
  write_npy<TestType>(path, shape, values);
  const auto array = read_npy<TestType>(path);
  CHECK(array.shape == shape);
  CHECK(array.values == values);
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST_CASE("the bytes of a .npy file are those of NumPy") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.npy";
  const std::vector<float> values{1, 2};
  write_npy<float>(path, {1, 2}, values);
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  const std::string data("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  CHECK(content_of(path) == std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header +
                                std::string(117 - header.size(), ' ') + "\n" + data);
}

TEST_CASE("each type has its descriptor") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.npy";
  const auto check = [&]<class T>(T /*type*/, const std::string& descriptor) {
    write_npy<T>(path, {0}, {});
    CHECK_THAT(content_of(path), Contains("'descr': '" + descriptor + "'"));
  };
  check(float{}, "<f4");
  check(double{}, "<f8");
  check(std::int32_t{}, "<i4");
  check(std::uint64_t{}, "<u8");
  check(std::int64_t{}, "<i8");
  CHECK_THROWS_WITH(read_npy<double>(path), Contains("elements of type '<i8', expected '<f8'"));
}

TEST_CASE("headers in other spellings are understood") {
  const TemporaryDirectory directory;
  const std::string path =
      directory.write("a.npy", npy("{\"shape\":(2,2),'fortran_order':False,\"descr\":'<f4'}   ", 16));
  CHECK(read_npy<float>(path).shape == NpyShape{2, 2});
}

TEST_CASE("a writer leaves no file behind unless it is complete") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.npy";
  const std::vector<float> values{1, 2, 3};
  {
    lapse::io::NpyWriter<float> writer(path, {4});
    writer.append(values);
    CHECK_THROWS_AS(writer.append(values), lapse::UsageError);
    CHECK_THROWS_AS(writer.close(), lapse::UsageError);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  CHECK_THROWS_AS(lapse::io::NpyWriter<float>(directory / "missing/a.npy", {4}), lapse::FileError);
  CHECK_THROWS_AS(lapse::io::NpyWriter<float>(path, {4, 1, 1}), lapse::UsageError);
}

TEST_CASE("a file that will have no room, or whose name is a folder's, is noticed when it is created") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.npy";
  constexpr std::size_t kTooMany = std::size_t{1} << 55;
  CHECK_THROWS_AS(lapse::io::NpyWriter<float>(path, {kTooMany}), lapse::FileError);
  {
    const FileLimit limit(1000);
    CHECK_THROWS_WITH(lapse::io::NpyWriter<float>(path, {1000}),
                      Contains("4128 bytes are to be written, and files of this process may have 1000"));
  }
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  std::filesystem::create_directory(path);
  CHECK_THROWS_WITH(lapse::io::NpyWriter<float>(path, {4}), Contains("it is a folder, expected a file"));
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  // Reserved bytes that are not written are not part of the file.
  const std::string shorter = directory / "shorter";
  lapse::io::OutputFile file(shorter, 100000);
  file.write("text");
  file.close();
  CHECK(content_of(shorter) == "text");
}

TEST_CASE("damaged or foreign .npy files are refused") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  check_refused("", "ends early");
  check_refused("NUMPY...", "is no .npy file");
  check_refused(std::string("\x93NUMPY\x04\x00\x00\x00", 10), "version 4.0");
  check_refused(std::string("\x93NUMPY\x01\x01\x00\x00", 10), "version 1.1");
  check_refused(npy(good, 16).substr(0, 40), "ends within its .npy header");
  check_refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "ends within its .npy header");
  check_refused(npy(good, 15), "15 bytes of data");
  check_refused(npy(good, 17), "17 bytes of data");
  check_refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 32),
                "type '<f8', expected '<f4'");
  check_refused(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 2), }", 16), "type '>f4'");
  check_refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16), "Fortran order");
  check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4), "has 0 dimensions");
  check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2), }", 16),
                "has 3 dimensions");
  check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4), }", 16), "expected ','");
  check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }", 16), "integers from 0");
  check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905, 4), }", 16),
                "not what its shape");
  check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 16),
                "integers from 0");
  check_refused(npy("{'descr': '<f4', 'fortran_order': False, }", 16), "an entry is missing");
  check_refused(npy("{'descr': '<f4', 'descr': '<f4', 'shape': (2, 2), }", 16), "entry 'descr'");
  check_refused(npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }", 16), "expected 'False'");
  check_refused(npy(good + "x", 16), "expected blanks and one newline");
  check_refused(npy("['descr']", 16), "expected '{'");
  check_refused(npy("{'descr", 16), "expected a closing '");
  check_refused(npy("", 16), "expected '{'");
  const TemporaryDirectory directory;
  CHECK_THROWS_AS(read_npy<float>(directory / "missing"), lapse::FileError);
  CHECK_THROWS_AS(read_npy<float>(directory / ""), lapse::FileError);
}
