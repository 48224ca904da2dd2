# How tests are registered. The number of ranks is declared here and becomes a label; the launcher is a setting.
#
# In builds with a sanitizer, names begin with it and so do labels: address.test_core, address-unit.

find_package(Catch2 REQUIRED)
if(Catch2_VERSION VERSION_LESS 2.13)
  message(FATAL_ERROR "Catch2 2.13 or newer is needed, found ${Catch2_VERSION}")
endif()
set(LAPSE_LAUNCHER "mpirun;--oversubscribe;--bind-to;none;-n" CACHE STRING
  "Command that starts an MPI program; the number of ranks follows it (for Slurm: srun;-n)")
set(LAPSE_TEST_TIMEOUT 120 CACHE STRING "Seconds after which an MPI test prints all stacks and fails")

# Some tests set what only Open MPI has.
set(LAPSE_WITH_OPEN_MPI OFF)
if(MPI_CXX_LIBRARY_VERSION_STRING MATCHES "^Open MPI")
  set(LAPSE_WITH_OPEN_MPI ON)
endif()

# What the builds with a sanitizer are for.
add_custom_target(tests_without_mpi)

# Includes every *.cmake file of the current folder.
macro(lapse_include_test_files)
  file(GLOB test_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cmake")
  foreach(test_file IN LISTS test_files)
    include("${test_file}")
  endforeach()
endmacro()

# lapse_example_in(<document> <file>): writes the first block of C++ in a document that begins with an #include to a file
# of the current binary folder, again whenever the document changes.
function(lapse_example_in document file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${document}")
  file(READ "${PROJECT_SOURCE_DIR}/${document}" text)
  string(FIND "${text}" "```cpp\n#include" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "${document} has no program text: expected a line ```cpp and #include after it")
  endif()
  math(EXPR begin "${begin} + 7")  # Behind the line ```cpp.
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} example)
  file(CONFIGURE OUTPUT "${file}" CONTENT "${example}" @ONLY)
endfunction()

# lapse_add_test(<name> COMMAND <command> LABELS <labels> TIMEOUT <seconds> [PROPERTIES ...]): any test. Exit status 77
# means skipped.
function(lapse_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "COMMAND;LABELS;PROPERTIES" ${ARGN})
  if(LAPSE_SANITIZER)
    string(PREPEND name "${LAPSE_SANITIZER}.")
    list(TRANSFORM ARG_LABELS PREPEND "${LAPSE_SANITIZER}-")
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77
    ${ARG_PROPERTIES})
endfunction()

# What tests are compiled with, in builds that are for tests only (warnings are errors there): less time for their own
# sources, which run once. The libraries are as users have them. Without the inlining of -O2, GCC warns of bounds that it
# does not see kept.
set(LAPSE_TEST_OPTIONS "")
if(LAPSE_WARNINGS_AS_ERRORS AND NOT LAPSE_SANITIZER)
  set(LAPSE_TEST_OPTIONS -O1 -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict
    -Wno-maybe-uninitialized -Wno-subobject-linkage)  # Joined files look like headers to the last.
elseif(LAPSE_SANITIZER STREQUAL "address")
  # These checks of each pointer cost a third of the time of compiling a test. The libraries are built with them.
  set(LAPSE_TEST_OPTIONS -fno-sanitize=null,alignment,object-size,vptr)
endif()

# lapse_processors(<variable> <ranks>): what a test takes of the machine. Those of one rank run side by side.
function(lapse_processors variable ranks)
  if(ranks EQUAL 1)
    set(${variable} 1 PARENT_SCOPE)
  else()
    set(${variable} 2 PARENT_SCOPE)
  endif()
endfunction()

# lapse_test(<name> SOURCES <files> [THREADED <files>] DEPENDS <targets> [RANKS 1 2 ...] [DOMAINS rank 2 ...] [TIMEOUT <s>] [LABELS ...]
# [ARGUMENTS ...] [SEPARATE]): a program of Catch2 tests.
# Without RANKS: a test without MPI; LABELS is unit unless given. With RANKS: one ctest entry per rank count, labels mpi,
# ranks-<n> and those given. DOMAINS: further entries with these values of the option domain, for the rank counts for
# which they differ from the default, host; label domains.
# THREADED: further sources, whose tests use threads: they alone are built with ThreadSanitizer.
# SEPARATE: the files are never joined, like those of tests with MPI: they use the same names in unnamed namespaces.
function(lapse_test name)
  cmake_parse_arguments(ARG "SEPARATE" "TIMEOUT;PROCESSORS" "SOURCES;THREADED;DEPENDS;RANKS;DOMAINS;LABELS;ARGUMENTS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT ${LAPSE_TEST_TIMEOUT})
  endif()
  if(LAPSE_SANITIZER STREQUAL "thread" AND NOT ARG_RANKS)
    set(ARG_SOURCES "")
  endif()
  list(APPEND ARG_SOURCES ${ARG_THREADED})
  if(NOT ARG_SOURCES)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_precompile_headers(${name} REUSE_FROM lapse_test_main)
  target_compile_options(${name} PRIVATE ${LAPSE_TEST_OPTIONS})
  if(LAPSE_JOINED_TEST_FILES AND NOT ARG_SEPARATE AND NOT ARG_RANKS)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${LAPSE_JOINED_TEST_FILES})
    # Joined files have absolute names, which the tests' macros would compile in: a cache serves one folder then.
    target_compile_options(${name} PRIVATE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
  endif()
  if(ARG_RANKS)
    target_link_libraries(${name} PRIVATE lapse_settings lapse_mpi_test_main ${ARG_DEPENDS})
    # The script that prints stacks ends the test; ctest's own limit is for the script.
    math(EXPR hard_limit "${ARG_TIMEOUT} + 60")
    foreach(ranks IN LISTS ARG_RANKS)
      lapse_processors(processors ${ranks})
      set(processors_of_domains 2)
      if(ARG_PROCESSORS)
        set(processors ${ARG_PROCESSORS})
        set(processors_of_domains ${ARG_PROCESSORS})
      endif()
      set(command COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" ${ARG_TIMEOUT}
        ${LAPSE_LAUNCHER} ${ranks} $<TARGET_FILE:${name}> ${ARG_ARGUMENTS})
      set(labels LABELS mpi ranks-${ranks} ${ARG_LABELS})
      lapse_add_test(${name}.ranks_${ranks} ${command} ${labels} TIMEOUT ${hard_limit} PROPERTIES PROCESSORS ${processors})
      foreach(domain IN LISTS ARG_DOMAINS)
        if((domain STREQUAL rank AND ranks GREATER 1) OR (domain MATCHES "^[0-9]+$" AND ranks GREATER domain))
          lapse_add_test(${name}.ranks_${ranks}.domain_${domain} ${command} ${labels} domains TIMEOUT ${hard_limit}
            PROPERTIES PROCESSORS ${processors_of_domains} ENVIRONMENT LAPSE_DOMAIN=${domain})
        endif()
      endforeach()
    endforeach()
  else()
    target_link_libraries(${name} PRIVATE lapse_settings lapse_test_main ${ARG_DEPENDS})
    add_dependencies(tests_without_mpi ${name})
    if(NOT ARG_LABELS)
      set(ARG_LABELS unit)
    endif()
    lapse_add_test(${name} COMMAND ${name} ${ARG_ARGUMENTS} LABELS ${ARG_LABELS} TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()
