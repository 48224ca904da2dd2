// The main function of programs that print a generated document.
#pragma once

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace lapse {

// Without arguments, prints the document; with --check <file>, fails unless the file has that text. Returns
// the exit status.
inline int document_main(int count, char** arguments, const std::string& document) {
  if (count == 1) {
    std::fputs(document.c_str(), stdout);
    return 0;
  }
  if (count != 3 || std::string_view(arguments[1]) != "--check") {
    std::fprintf(stderr, "usage: %s [--check <file>]\n", arguments[0]);
    return 2;
  }
  std::ifstream file(arguments[2]);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text == document) return 0;
  std::fprintf(stderr, "%s does not match the options: write it anew with %s > %s\n", arguments[2],
               arguments[0], arguments[2]);
  return 1;
}

}  // namespace lapse
