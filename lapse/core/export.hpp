// Exports what other programs and libraries may use of a shared library; everything else is hidden.
#pragma once

// Before a class name: exports its members that are defined in the library, and its type for catching
// exceptions. Before a function: exports that function.
#define LAPSE_EXPORT __attribute__((visibility("default")))
// Likewise, only for the project's other libraries: programs have no header of it.
#define LAPSE_EXPORT_INNER LAPSE_EXPORT
// For a nested class of an exported class.
#define LAPSE_HIDDEN __attribute__((visibility("hidden")))
