// Input compressed with gzip, xz or zstd, in pieces of all sizes.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "lapse/io/files/input_error.hpp"
#include "lapse/io/text/input_stream.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

// A small input may expand to very many bytes; they need no memory.
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

struct Result {
  std::string bytes;
  bool refused = false;
};

Result decompress(const io::Input& input, std::size_t room) {
  Result result;
  try {
    io::InputStream stream(input);
    std::array<char, 4096> buffer{};
    while (result.bytes.size() < kMaxBytes) {
      const std::size_t count = stream.read(std::span(buffer).first(std::min(room, buffer.size())));
      if (count == 0) {
        check(stream.read(buffer) == 0, "an input that has ended has ended");
        break;
      }
      result.bytes.append(buffer.data(), count);
    }
  } catch (const io::InputError&) {
    result.refused = true;
  } catch (const FileError&) {
    result.refused = true;
  }
  return result;
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  FuzzInput input(data, size);
  const std::size_t piece = 1 + input.byte();
  const std::string bytes = input.rest();
  const Result whole = decompress(source_input(bytes), 4096);
  const Result pieces = decompress(source_input(bytes, piece), 4096);
  if (whole.bytes.size() >= kMaxBytes || pieces.bytes.size() >= kMaxBytes) return 0;
  check(whole.refused == pieces.refused, "pieces are refused as the whole is");
  if (!whole.refused) check(whole.bytes == pieces.bytes, "pieces have the bytes of the whole");
  return 0;
}
