// Manifests of checkpoints.
//
// The first byte selects whether the following bytes are a whole file, or the contents covered by the
// checksum in the first line, which is then correct.
#include <fmt/format.h>

#include <span>
#include <string>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/checkpoint/manifest.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  using lapse::Manifest;
  FuzzInput input(data, size);
  const bool is_repaired = input.byte() % 2 == 1;
  std::string text = input.rest();
  if (is_repaired) {
    const std::uint64_t checksum = lapse::checksum(std::as_bytes(std::span(text)));
    text.insert(0, fmt::format("{{\"checksum\": \"{:016x}\",\n", checksum));
  }
  try {
    const Manifest manifest = Manifest::from_text(text, "manifest.json");
    check(Manifest::from_text(manifest.to_text(), "manifest.json") == manifest, "a manifest survives");
    for (const std::string& file : manifest.files()) {
      check(!file.starts_with('/') && file.find("..") != 0 && file.find("/.") == std::string::npos,
            "files are within the folder");
    }
  } catch (const lapse::CheckpointError& error) {
    check(error.file() == "manifest.json", "an error names the file");
  }
  return 0;
}
