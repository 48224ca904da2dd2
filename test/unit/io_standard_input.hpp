// Standard input for the io tests.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace lapse::test {

// While it lives, standard input is this file, from its start.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path) : saved_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::dup2(file, STDIN_FILENO) < 0) throw std::runtime_error("no standard input");
    ::close(file);
  }
  ~StandardInput() {
    if (saved_ < 0) {
      ::close(STDIN_FILENO);
      return;
    }
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int saved_;
};

}  // namespace lapse::test
