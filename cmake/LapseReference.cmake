# The target `reference`: pages of the public headers, in reference/html of the build folder; needs Doxygen.

find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  return()
endif()
list(TRANSFORM public_headers PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE LAPSE_REFERENCE_INPUT)
list(JOIN LAPSE_REFERENCE_INPUT " \\\n  " LAPSE_REFERENCE_INPUT)
configure_file("${PROJECT_SOURCE_DIR}/docs/reference/Doxyfile.in" "${PROJECT_BINARY_DIR}/reference/Doxyfile" @ONLY)
add_custom_target(reference COMMAND Doxygen::doxygen "${PROJECT_BINARY_DIR}/reference/Doxyfile" VERBATIM
  COMMENT "Writing ${PROJECT_BINARY_DIR}/reference/html/index.html")
if(LAPSE_BUILD_TESTS)
  lapse_add_test(reference COMMAND Doxygen::doxygen "${PROJECT_BINARY_DIR}/reference/Doxyfile"
    LABELS docs TIMEOUT 120)
endif()
