// Error messages of arguments in the package's terms.
#pragma once

#include <pybind11/pybind11.h>

namespace lapse::python {

// Makes the functions of a module and its classes raise a TypeError from lapse/refusals.py if pybind11
// refuses their arguments. Otherwise they are unchanged.
void explain_refusals(pybind11::module_& module);

}  // namespace lapse::python
