# Sets LAPSE_PYTHON_FOUND: the package for Python is wanted, and pybind11 and the headers of Python are there; and
# LAPSE_PYTHON_EXECUTABLE, the interpreter that it is for: that of the system, whose packages are Debian's.
set(LAPSE_PYTHON_FOUND FALSE)
set(LAPSE_PYTHON_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The Python that the package is built for")
if(LAPSE_PYTHON AND NOT LAPSE_SANITIZER AND NOT LAPSE_FUZZERS)
  # pybind11 ends the configuration where these are missing.
  execute_process(COMMAND "${LAPSE_PYTHON_EXECUTABLE}" -c "import sysconfig; print(sysconfig.get_path('include'))"
    OUTPUT_VARIABLE python_headers OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE python_failure)
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
