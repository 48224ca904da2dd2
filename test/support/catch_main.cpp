// The main function of all tests without MPI.
#define CATCH_CONFIG_RUNNER
#include "test/support/catch.hpp"

int main(int count, char** arguments) {
  return Catch::Session().run(count, arguments);
}
