// Manifests are read like they were written, or refused.
#include <cctype>
#include <cstdio>

#include "lapse/checkpoint/checksum.hpp"
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/checkpoint_samples.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;

namespace {

Manifest full_manifest() {
  Manifest manifest = sample_manifest(7);
  manifest.tables[0].shards.push_back({.file = "a.shards",
                                       .bytes = 100,
                                       .entries = 2,
                                       .first_key = 0,
                                       .last_key = UINT64_MAX,
                                       .index_checksum = UINT64_MAX});
  manifest.tables[0].name = "with \"quotes\" and ä";
  manifest.global = {.file = "001/g.shards", .offset = 4096, .bytes = 3, .checksum = 1};
  manifest.per_worker.push_back({.file = "a.shards", .offset = UINT64_MAX, .bytes = 4, .checksum = 0});
  return manifest;
}

std::optional<Reason> reason_of(const std::string& text) {
  return thrown_reason([&] { Manifest::from_text(text, "manifest.json"); });
}

// Adds the correct checksum.
std::string sealed(const std::string& body) {
  char line[40];
  const auto sum = static_cast<unsigned long long>(lapse::checksum(std::as_bytes(std::span(body))));
  std::snprintf(line, sizeof line, "{\"checksum\": \"%016llx\",\n", sum);
  std::string text(line);
  text += body;
  return text;
}

std::string body_of(const Manifest& manifest) {
  const std::string text = manifest.to_text();
  return text.substr(text.find('\n') + 1);
}

std::string replaced(const std::string& text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.substr(0, at) + by + text.substr(at + part.size());
}

}  // namespace

TEST_CASE("A manifest is read as it was written") {
  const Manifest manifest = full_manifest();
  CHECK(Manifest::from_text(manifest.to_text(), "manifest.json") == manifest);
  CHECK(manifest.files() == std::vector<std::string>{"001/g.shards", "a.shards"});
  CHECK(manifest.bytes() == 107);
  CHECK(manifest.tables[0].entries() == 2);
  REQUIRE(manifest.table("names") != nullptr);
  CHECK(manifest.table("names")->update_rule == "add");
  CHECK(manifest.table("name") == nullptr);
  const Manifest empty;
  CHECK(Manifest::from_text(empty.to_text(), "manifest.json") == empty);
}

TEST_CASE("Every flipped bit of a manifest is noticed, and every end before its end") {
  const std::string whole = full_manifest().to_text();
  std::size_t unnoticed = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string text = whole;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    unnoticed += reason_of(text) ? 0 : 1;
  }
  CHECK(unnoticed == 0);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) CHECK(reason_of(whole.substr(0, bytes)));
}

TEST_CASE("Manifests that are none, or of a later version") {
  CHECK(reason_of("") == Reason::truncated);
  CHECK(reason_of(std::string(100, 'x')) == Reason::foreign);
  CHECK(reason_of(sealed("}")) == Reason::damaged);
  CHECK(reason_of(sealed("\"format\": \"another\"}")) == Reason::foreign);
  const std::string body = body_of(full_manifest());
  CHECK(reason_of(sealed(body)) == std::nullopt);
  CHECK(reason_of(sealed(replaced(body, "\"version\": 1", "\"version\": 2"))) == Reason::newer_version);
  CHECK(reason_of(sealed(replaced(body, "float32", "float16"))) == Reason::damaged);
  CHECK(reason_of(sealed(replaced(body, "\"step\": 7", "\"step\": \"7\""))) == Reason::damaged);
  CHECK(reason_of(sealed(replaced(body, "\"step\"", "\"stop\""))) == Reason::damaged);
}

TEST_CASE("Files outside of the folder cannot be listed") {
  const std::string body = body_of(full_manifest());
  for (const char* name : {"../a.shard", "/etc/passwd", "", "..", ".hidden", "a/b", "001/", "001/../a",
                           "001/a/b", "01/a", "0x1/a", "001/.a"})
    CHECK(reason_of(sealed(replaced(body, "a.shards", name))) == Reason::damaged);
}

TEST_CASE("Names must be UTF-8") {
  Manifest manifest = full_manifest();
  manifest.tables[0].name = std::string(1, static_cast<char>(0xff));
  CHECK(contains(thrown_text<UsageError>([&] { manifest.to_text(); }), "must be UTF-8"));
}
