# How every target of the project is made: C++20, all warnings, one include root, the chosen sanitizer.

add_library(lapse_settings INTERFACE)
target_compile_features(lapse_settings INTERFACE cxx_std_20)
target_compile_options(lapse_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(LAPSE_WARNINGS_AS_ERRORS)
  target_compile_options(lapse_settings INTERFACE -Werror)
endif()
if(LAPSE_SANITIZER STREQUAL "address")
  set(sanitizer_options -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  target_compile_definitions(lapse_settings INTERFACE _GLIBCXX_ASSERTIONS)  # Bounds within memory that is there.
elseif(LAPSE_SANITIZER STREQUAL "thread")
  # GCC warns that fences are not instrumented; in these builds readers take the latch instead.
  set(sanitizer_options -fsanitize=thread -Wno-tsan)
elseif(LAPSE_SANITIZER)
  message(FATAL_ERROR "LAPSE_SANITIZER must be empty, address or thread, not '${LAPSE_SANITIZER}'")
endif()
if(LAPSE_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "LAPSE_FUZZERS needs clang++, not ${CMAKE_CXX_COMPILER_ID}: use the preset fuzz")
  endif()
  list(APPEND sanitizer_options -fsanitize=fuzzer-no-link)
  # The warnings that the sources are free of are those of GCC.
  target_compile_options(lapse_settings INTERFACE -Wno-unknown-warning-option -Wno-sign-conversion -Wno-shadow
    -Wno-bitwise-instead-of-logical -Wno-unused-private-field)
endif()
if(LAPSE_SANITIZER)
  # Instrumented code misleads the warnings that follow the flow of values; the other builds check them.
  target_compile_options(lapse_settings INTERFACE ${sanitizer_options} -fno-omit-frame-pointer
    -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict
    -Wno-subobject-linkage)  # Joined files look like headers to it.
  target_link_options(lapse_settings INTERFACE ${sanitizer_options})
endif()

# The standard headers and fmt, compiled once for all libraries (position-independent code), once for all programs and
# once, with Catch2, for all tests.
set(LAPSE_PRECOMPILED_HEADERS
  <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstring> <functional> <memory> <mutex> <optional> <span>
  <stdexcept> <string> <string_view> <thread> <unordered_map> <utility> <vector> <fmt/format.h>)
# What lapse/core/export.hpp marks is visible in shared libraries. The objects are compiled once for both forms.
set(LAPSE_LIBRARY_PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
foreach(kind IN ITEMS library program)
  add_library(lapse_${kind}_precompiled OBJECT "${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp")
  target_link_libraries(lapse_${kind}_precompiled PRIVATE lapse_settings fmt::fmt)
  target_precompile_headers(lapse_${kind}_precompiled PRIVATE ${LAPSE_PRECOMPILED_HEADERS})
endforeach()
set_target_properties(lapse_library_precompiled PROPERTIES ${LAPSE_LIBRARY_PROPERTIES})

# Builds that are for tests only (warnings are errors there) join the files of a library, which saves a third of their
# time, and those of a test program without MPI, which saves half. That every file stands alone is what the other builds
# show, and clang-tidy for what has changed. Names in unnamed namespaces must differ within a target.
if(LAPSE_SANITIZER OR LAPSE_WARNINGS_AS_ERRORS)
  set(LAPSE_JOINED_FILES 8)
  set(LAPSE_JOINED_TEST_FILES 8)
endif()

# lapse_library(<folder name> SOURCES <files> DEPENDS <targets> [PRIVATE_DEPENDS <targets>]): one library target for one
# folder, lapse_<name>. An alias lapse::<name> is what others link to. All have fmt, as the precompiled header does.
function(lapse_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(lapse_${name} STATIC ${ARG_SOURCES})
  add_library(lapse::${name} ALIAS lapse_${name})
  target_include_directories(lapse_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(lapse_${name} PUBLIC ${ARG_DEPENDS} PRIVATE lapse_settings fmt::fmt ${ARG_PRIVATE_DEPENDS})
  target_compile_features(lapse_${name} PUBLIC cxx_std_20)
  set_target_properties(lapse_${name} PROPERTIES ${LAPSE_LIBRARY_PROPERTIES})
  target_precompile_headers(lapse_${name} REUSE_FROM lapse_library_precompiled)
  if(LAPSE_JOINED_FILES)
    set_target_properties(lapse_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${LAPSE_JOINED_FILES})
  endif()
endfunction()

# lapse_fast_compile(<files>): without optimization in builds that are for tests only (warnings are errors there), for
# files that read command lines: their headers take half of a minute otherwise, and their speed does not matter.
# Precompiled headers need optimization. Never in other builds: of a template that is compiled twice, the linker takes one.
function(lapse_fast_compile)
  if(LAPSE_WARNINGS_AS_ERRORS)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O0)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# lapse_program(<name> SOURCES <files> DEPENDS <targets>)
function(lapse_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE lapse_settings fmt::fmt ${ARG_DEPENDS})
  target_precompile_headers(${name} REUSE_FROM lapse_program_precompiled)
endfunction()
