// Errors of arguments in the words of the package.
#pragma once

#include <pybind11/pybind11.h>

namespace lapse::python {

// Makes the functions of a module and of its classes raise a TypeError by lapse/refusals.py where pybind11
// refuses their arguments. What they do otherwise stays.
void explain_refusals(pybind11::module_& module);

}  // namespace lapse::python
