# Sets LAPSE_PYTHON_FOUND: the package for Python is wanted, and pybind11 and the headers of Python are there; and
# LAPSE_PYTHON_EXECUTABLE, the interpreter that it is for: that of the system, whose packages are Debian's.
set(LAPSE_PYTHON_FOUND FALSE)
set(LAPSE_PYTHON_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The Python that the package is built for")
if(LAPSE_PYTHON AND NOT LAPSE_SANITIZER AND NOT LAPSE_FUZZERS)
  set(PYTHON_EXECUTABLE "${LAPSE_PYTHON_EXECUTABLE}")
  find_package(pybind11 2.10 QUIET)
  if(pybind11_FOUND AND EXISTS "${PYTHON_INCLUDE_DIRS}/Python.h")
    set(LAPSE_PYTHON_FOUND TRUE)
  else()
    message(STATUS "No package for Python: it needs pybind11 and the headers of ${LAPSE_PYTHON_EXECUTABLE}")
  endif()
endif()
