// What other programs and libraries may use of a shared library; everything else is hidden in it.
#pragma once

// Before the name of a class: its members that are defined in the library, and its type where exceptions are
// caught. Before a function: that function.
#define LAPSE_EXPORT __attribute__((visibility("default")))
// Likewise, for the project's other libraries only: programs have no header of it.
#define LAPSE_EXPORT_INNER LAPSE_EXPORT
// For a class within one that is exported.
#define LAPSE_HIDDEN __attribute__((visibility("hidden")))
