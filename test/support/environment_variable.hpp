// Environment variables of a test.
#pragma once

#include <cstdlib>
#include <string>

namespace lapse::test {

// Sets an environment variable while the object lives. Meanwhile no other thread may read the environment.
class EnvironmentVariable {
 public:
  // `name` is a literal.
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() { unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
};

}  // namespace lapse::test
