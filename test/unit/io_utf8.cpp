// Validity of UTF-8.
#include "lapse/io/files/utf8.hpp"

#include <string>
#include <utility>

#include "test/support/catch.hpp"

using lapse::io::valid_utf8_bytes;

TEST_CASE("valid UTF-8 is valid as a whole") {
  const std::string text =
      GENERATE("", "a", "plain text of more than eight bytes", "\xc3\xa9t\xc3\xa9", "\xc2\x80", "\xdf\xbf",
               "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
               "\xf4\x8f\xbf\xbf", "eight ch\xe4\xb8\xad\xe6\x96\x87 then ascii again");
  CHECK(valid_utf8_bytes(text) == text.size());
}

TEST_CASE("the first byte that is not UTF-8 is found") {
  const std::string bad = GENERATE("\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf",
                                   "\xe4\xb8", "\xe4\xb8(", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                                   "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff");
  for (const std::string before : {"", "abc", "exactly8", "t\xc3\xa9xt with more"}) {
    CHECK(valid_utf8_bytes(before + bad) == before.size());
    CHECK(valid_utf8_bytes(before + bad + " and more text") == before.size());
  }
}
