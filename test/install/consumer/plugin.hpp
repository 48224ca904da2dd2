// The functions of a plugin that contains a copy of the library, for a program that uses another copy.
#pragma once

#include <mpi.h>

struct Plugin {
  void (*open)(MPI_Comm communicator);  // collective
  void (*run)();                        // collective: a phase of two workers
  void (*close)();                      // collective
  const void* version_function;         // of its copy of the library
};

using GetPlugin = Plugin (*)();
