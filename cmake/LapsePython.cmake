# Sets LAPSE_PYTHON_FOUND: the package for Python is wanted, and pybind11 and the headers of Python are there;
# LAPSE_PYTHON_EXECUTABLE, the interpreter that it is for: that of the system, whose packages are Debian's; and
# LAPSE_PYTHON_VERSION, such as 3.11.
set(LAPSE_PYTHON_FOUND FALSE)
set(LAPSE_PYTHON_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The Python that the package is built for")
if(LAPSE_PYTHON AND NOT LAPSE_SANITIZER AND NOT LAPSE_FUZZERS)
  # pybind11 ends the configuration where these are missing.
  execute_process(COMMAND "${LAPSE_PYTHON_EXECUTABLE}" -c "import sysconfig
print(sysconfig.get_path('include'), sysconfig.get_python_version(), sep=';')"
    OUTPUT_VARIABLE python_facts OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE python_failure)
  list(APPEND python_facts "" "")
  list(GET python_facts 0 python_headers)
  list(GET python_facts 1 LAPSE_PYTHON_VERSION)
  if(python_failure EQUAL 0 AND EXISTS "${python_headers}/Python.h")
    set(PYTHON_EXECUTABLE "${LAPSE_PYTHON_EXECUTABLE}")
    find_package(pybind11 2.10 QUIET)
    set(LAPSE_PYTHON_FOUND ${pybind11_FOUND})
  endif()
  if(LAPSE_PYTHON_FOUND)
    set(LAPSE_PYTHON_FOUND TRUE)
  else()
    set(LAPSE_PYTHON_FOUND FALSE)
    message(STATUS "No package for Python: it needs pybind11 and the headers of ${LAPSE_PYTHON_EXECUTABLE}")
  endif()
endif()
