// replay FOLDER COUNT: runs a fuzzer on every file of a folder, and on COUNT changed ones, equal in each run.
// For compilers without libFuzzer, and for tests. Saves a copy of an input that ends the program.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/fuzz/fuzz_target.hpp"

// Defined by sanitizers.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace lapse::test {
namespace {

constexpr const char* kFailedInput = "failed-input";

using Bytes = std::vector<std::uint8_t>;

// The fuzzer's current input, for the signal handler.
const Bytes* current = nullptr;

void write_current() {
  const int file = ::open(kFailedInput, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0 || current == nullptr) return;
  static_cast<void>(!::write(file, current->data(), current->size()));
  ::close(file);
  constexpr char kText[] = "The input with which this program ends is in the file failed-input here.\n";
  static_cast<void>(!::write(STDERR_FILENO, kText, sizeof kText - 1));
}

void end_by_signal(int signal) {
  write_current();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::vector<Bytes> read_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Bytes> files;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return files;
}

// Makes one change of the kinds that fuzzers make.
void change(Bytes& bytes, const Bytes& other, RandomEngine& random) {
  const std::size_t at = random.below(bytes.size() + 1);
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  const std::size_t length = std::min<std::size_t>(1 + random.below(32), bytes.size() - at);
  switch (at == bytes.size() ? 2 : random.below(7)) {
    case 0:
      *place ^= static_cast<std::uint8_t>(1U << random.below(8));
      break;
    case 1:
      *place = static_cast<std::uint8_t>(random());
      break;
    case 2:
      bytes.insert(place, static_cast<std::uint8_t>(random()));
      break;
    case 3:
      bytes.erase(place, place + static_cast<std::ptrdiff_t>(length));
      break;
    case 4:
      std::fill_n(place, std::min<std::size_t>(length, 4), random.below(2) == 0 ? 0x00 : 0xff);
      break;
    case 5:
      bytes.resize(at);
      break;
    default: {
      const std::size_t from = random.below(other.size() + 1);
      const auto begin = other.begin() + static_cast<std::ptrdiff_t>(from);
      const std::size_t count = std::min<std::size_t>(length, other.size() - from);
      const Bytes piece(begin, begin + static_cast<std::ptrdiff_t>(count));
      bytes.insert(place, piece.begin(), piece.end());
      break;
    }
  }
}

void run(const Bytes& bytes) {
  // A memory block of exactly this size.
  const Bytes exact(bytes);
  current = &exact;
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  current = nullptr;
}

int replay(const std::filesystem::path& folder, std::uint64_t count) {
  const std::vector<Bytes> files = read_files(folder);
  if (files.empty()) {
    std::fprintf(stderr, "%s has no files\n", folder.c_str());
    return EXIT_FAILURE;
  }
  for (const Bytes& file : files) run(file);
  for (std::uint64_t number = 0; number < count; ++number) {
    RandomEngine random(number);
    Bytes bytes = files[random.below(files.size())];
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes)
      change(bytes, files[random.below(files.size())], random);
    run(bytes);
  }
  std::printf("%zu files and %llu changed ones\n", files.size(), static_cast<unsigned long long>(count));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace lapse::test

int main(int argument_count, char** arguments) {
  std::uint64_t count = 0;
  const std::string text = argument_count == 3 ? arguments[2] : "";
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
    std::fprintf(stderr, "usage: %s FOLDER COUNT\n", arguments[0]);
    return 2;
  }
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(&lapse::test::write_current);
  } else {
    std::signal(SIGSEGV, &lapse::test::end_by_signal);
  }
  std::signal(SIGABRT, &lapse::test::end_by_signal);
  return lapse::test::replay(arguments[1], count);
}
