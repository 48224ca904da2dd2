# What is installed: shared libraries, archives, the headers that programs may include, and what finds them all.
#
# The libraries are made of the objects of the folders' targets, to which the tests link: nothing is compiled twice.
# Components of an installation: runtime, development, programs, python, documentation.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(LAPSE_PACKAGE_FOLDER "${CMAKE_INSTALL_LIBDIR}/cmake/lapse")
set(LAPSE_ABI "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(LAPSE_CORE_FOLDERS core consistency transport store directory checkpoint protocol ps jobs stage)

# lapse_installed_library(<file name> EXPORT <name> OF <folders' targets> [LANGUAGE Fortran] [LAPSE_USES <exported names>]
# USES <targets> PRIVATE_USES <targets>): lib<file name>.so and lib<file name>.a; lapse::<name> for consumers. USES are
# the targets whose headers users see.
function(lapse_installed_library name)
  cmake_parse_arguments(ARG "" "EXPORT;LANGUAGE" "OF;USES;PRIVATE_USES;LAPSE_USES" ${ARGN})
  if(NOT ARG_LANGUAGE)
    set(ARG_LANGUAGE CXX)
  endif()
  list(TRANSFORM ARG_OF REPLACE "(.+)" "$<TARGET_OBJECTS:lapse_\\1>" OUTPUT_VARIABLE objects)
  foreach(form IN ITEMS shared static)
    string(TOUPPER ${form} kind)
    if(NOT LAPSE_${kind})
      continue()
    endif()
    set(target lapse_installed_${ARG_EXPORT}_${form})
    add_library(${target} ${kind} ${objects})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${name} EXPORT_NAME ${ARG_EXPORT} LINKER_LANGUAGE ${ARG_LANGUAGE} VERSION ${LAPSE_ABI} SOVERSION ${LAPSE_ABI}
      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib" ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
    if(ARG_LANGUAGE STREQUAL "CXX")
      target_compile_features(${target} PUBLIC cxx_std_20)
    endif()
    target_include_directories(${target} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    list(TRANSFORM ARG_LAPSE_USES REPLACE "(.+)" "lapse_installed_\\1_${form}" OUTPUT_VARIABLE lapse_uses)
    target_link_libraries(${target} PUBLIC ${lapse_uses} ${ARG_USES})
    if(form STREQUAL shared)
      # What the library alone needs is no matter of its consumers. A callback of MPI_Finalize may be in it.
      list(TRANSFORM ARG_PRIVATE_USES REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>" OUTPUT_VARIABLE private_uses)
      target_link_libraries(${target} PRIVATE ${private_uses})
      target_link_options(${target} PRIVATE LINKER:--no-undefined LINKER:-z,nodelete)
      set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH TRUE)
      if(ARG_LANGUAGE STREQUAL "CXX")  # The names of a module are those of its compiler.
        set(exports "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/exports.map")
        target_link_options(${target} PRIVATE "LINKER:--version-script,${exports}")
        set_target_properties(${target} PROPERTIES LINK_DEPENDS "${exports}")
      endif()
    else()
      target_link_libraries(${target} PRIVATE ${ARG_PRIVATE_USES})
      # A library that contains a copy keeps it to itself.
      target_link_options(${target} INTERFACE LINKER:--exclude-libs,lib${name}.a)
    endif()
    install(TARGETS ${target} EXPORT lapse-${ARG_EXPORT}-${form}
      LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
    install(EXPORT lapse-${ARG_EXPORT}-${form} NAMESPACE lapse:: DESTINATION "${LAPSE_PACKAGE_FOLDER}"
      COMPONENT development)
  endforeach()
endfunction()

lapse_installed_library(lapse EXPORT lapse OF ${LAPSE_CORE_FOLDERS}
  USES MPI::MPI_CXX Threads::Threads
  PRIVATE_USES fmt::fmt Boost::serialization PkgConfig::hwloc PkgConfig::xxhash ${CMAKE_DL_LIBS})
lapse_installed_library(adapm EXPORT adapm OF adapm LAPSE_USES lapse PRIVATE_USES fmt::fmt Boost::serialization)
lapse_installed_library(lapse_io EXPORT io OF io LAPSE_USES lapse PRIVATE_USES fmt::fmt ${LAPSE_COMPRESSION_TARGETS})
lapse_installed_library(lapse_c EXPORT c OF c LAPSE_USES adapm PRIVATE_USES fmt::fmt)

# Module files are of one compiler, and of no folder that several compilers search.
set(LAPSE_FORTRAN_FOLDER "${CMAKE_INSTALL_INCLUDEDIR}/lapse/fortran" CACHE STRING "Where Fortran's module files are installed")
if(LAPSE_FORTRAN_FOUND)
  lapse_installed_library(lapse_fortran EXPORT fortran OF fortran LANGUAGE Fortran LAPSE_USES c USES MPI::MPI_Fortran)
  foreach(form IN ITEMS shared static)
    if(TARGET lapse_installed_fortran_${form})
      target_include_directories(lapse_installed_fortran_${form} INTERFACE "$<INSTALL_INTERFACE:${LAPSE_FORTRAN_FOLDER}>")
    endif()
  endforeach()
  # That of gfortran contains what it uses; other compilers read the modules that it is made of, too.
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    install(FILES "${PROJECT_BINARY_DIR}/fortran/lapse.mod" DESTINATION "${LAPSE_FORTRAN_FOLDER}" COMPONENT development)
  else()
    install(DIRECTORY "${PROJECT_BINARY_DIR}/fortran/" DESTINATION "${LAPSE_FORTRAN_FOLDER}" COMPONENT development
      FILES_MATCHING PATTERN "*.mod")
  endif()
endif()

# The package for Python uses the shared libraries, where there are any: in a program that is linked to them, both use
# one copy.
if(LAPSE_PYTHON_FOUND)
  set(LAPSE_PYTHON_FOLDER "" CACHE STRING "Where the package for Python is installed, below the prefix; empty: lib/python<version>/site-packages")
  if(IS_ABSOLUTE "${LAPSE_PYTHON_FOLDER}")
    message(FATAL_ERROR "LAPSE_PYTHON_FOLDER is ${LAPSE_PYTHON_FOLDER}: expected a folder below the prefix")
  elseif(NOT LAPSE_PYTHON_FOLDER)
    # Of this configuration alone: another interpreter has another folder.
    set(LAPSE_PYTHON_FOLDER "${CMAKE_INSTALL_LIBDIR}/python${LAPSE_PYTHON_VERSION}/site-packages")
  endif()
  install(TARGETS lapse_python LIBRARY DESTINATION "${LAPSE_PYTHON_FOLDER}/lapse" COMPONENT python)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/lapse/python/lapse" DESTINATION "${LAPSE_PYTHON_FOLDER}" COMPONENT python
    FILES_MATCHING PATTERN "*.py")
  file(RELATIVE_PATH python_to_libraries "/prefix/${LAPSE_PYTHON_FOLDER}/lapse" "/prefix/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(lapse_python PROPERTIES INSTALL_RPATH "$ORIGIN/${python_to_libraries}"
    INSTALL_RPATH_USE_LINK_PATH TRUE)
endif()

# Headers: those that programs may include, and what these include in turn.
function(lapse_close_over_includes variable)
  set(waiting ${ARGN})
  set(reached "")
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST reached)
      continue()
    endif()
    list(APPEND reached "${header}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${header}")
    file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" includes REGEX "^#include \"(lapse|adapm)/")
    list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND waiting ${includes})
  endwhile()
  set(${variable} ${reached} PARENT_SCOPE)
endfunction()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/package/public_headers.txt")
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/package/public_headers.txt" public_headers)
lapse_close_over_includes(public_headers ${public_headers})
set(header_of_mpi lapse/core/mpi_library.h)  # Another file in an installation: see below.
list(REMOVE_ITEM public_headers ${header_of_mpi})
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}" COMPONENT development)
endforeach()

# The CMake package.
include("${CMAKE_CURRENT_LIST_DIR}/package/lapse-mpi-library.cmake")
lapse_mpi_abi(LAPSE_MPI_ABI ${MPI_CXX_LIBRARIES})
# Behind the version, and with MPICH on further lines: who built it, when and how.
string(REGEX REPLACE "(, |[\r\n]).*" "" LAPSE_MPI_VERSION "${MPI_CXX_LIBRARY_VERSION_STRING}")
string(REGEX REPLACE "[ \t]+" " " LAPSE_MPI_VERSION "${LAPSE_MPI_VERSION}")
# What its header defines, and headers of other libraries do not.
if(LAPSE_MPI_VERSION MATCHES "^Open MPI")
  set(LAPSE_MPI_MACRO OPEN_MPI)
elseif(LAPSE_MPI_VERSION MATCHES "MPICH|Intel|MVAPICH")
  set(LAPSE_MPI_MACRO MPICH_NAME)
else()
  set(LAPSE_MPI_MACRO MPI_VERSION)
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/package/mpi_library.h.in" "${PROJECT_BINARY_DIR}/package/mpi_library.h" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/mpi_library.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/lapse/core"
  COMPONENT development)
list(JOIN LAPSE_COMPRESSION_DEPENDENCIES "\n    " LAPSE_COMPRESSION_DEPENDENCIES)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/package/lapse-config.cmake.in"
  "${PROJECT_BINARY_DIR}/package/lapse-config.cmake" INSTALL_DESTINATION "${LAPSE_PACKAGE_FOLDER}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/lapse-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_LIST_DIR}/package/lapse-mpi-library.cmake"
  "${PROJECT_BINARY_DIR}/package/lapse-config.cmake" "${PROJECT_BINARY_DIR}/package/lapse-config-version.cmake"
  DESTINATION "${LAPSE_PACKAGE_FOLDER}" COMPONENT development)

# Files for pkg-config. lapse_pc(<name> <library> <description> [REQUIRES ..] [CFLAGS ..] [LIBS ..] [PRIVATE_LIBS ..])
file(RELATIVE_PATH PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" PC_TO_PREFIX "${PC_TO_PREFIX}")
function(lapse_pc PC_NAME PC_LIBRARY PC_DESCRIPTION)
  cmake_parse_arguments(ARG "" "REQUIRES" "CFLAGS;LIBS;PRIVATE_LIBS" ${ARGN})
  set(PC_REQUIRES "${ARG_REQUIRES}")
  foreach(field IN ITEMS CFLAGS LIBS PRIVATE_LIBS)
    set(PC_${field} "")
    foreach(flag IN LISTS ARG_${field})
      string(APPEND PC_${field} " ${flag}")
    endforeach()
  endforeach()
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/library.pc.in" "${PROJECT_BINARY_DIR}/package/${PC_NAME}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/${PC_NAME}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT development)
endfunction()
set(mpi_libraries ${MPI_CXX_LIBRARIES})  # Without the C++ bindings of MPI 2.
# Behind those of a wrapper of another MPI library: its header is found then, and refused.
list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND "-idirafter " OUTPUT_VARIABLE mpi_includes)
# For drivers of C and Fortran that link archives.
set(cxx_libraries ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER cxx_libraries INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
list(REMOVE_DUPLICATES cxx_libraries)
list(TRANSFORM cxx_libraries PREPEND "-l")
list(FILTER mpi_libraries EXCLUDE REGEX "libmpi_?(cxx|chcxx)\\.")
lapse_pc(lapse lapse "${PROJECT_DESCRIPTION}" CFLAGS ${mpi_includes}
  -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -pthread LIBS ${mpi_libraries} -pthread
  PRIVATE_LIBS -lboost_serialization -lfmt -lhwloc -lxxhash -ldl ${cxx_libraries})
lapse_pc(adapm adapm "Parameter manager by intents, over lapse" REQUIRES "lapse = ${PROJECT_VERSION}"
  PRIVATE_LIBS -lboost_serialization -lfmt)
lapse_pc(lapse-io lapse_io "Readers and writers of data files, of lapse" REQUIRES "lapse = ${PROJECT_VERSION}"
  PRIVATE_LIBS -lfmt ${LAPSE_COMPRESSION_FLAGS})
lapse_pc(lapse-c lapse_c "Parameter servers and managers for programs in C, of lapse" REQUIRES "adapm = ${PROJECT_VERSION}"
  PRIVATE_LIBS -lfmt)
if(LAPSE_FORTRAN_FOUND)
  # The modules of MPI are those of its wrapper.
  lapse_pc(lapse-fortran lapse_fortran "Module for Fortran, of lapse" REQUIRES "lapse-c = ${PROJECT_VERSION}"
    CFLAGS "-I\${prefix}/${LAPSE_FORTRAN_FOLDER}" LIBS ${MPI_Fortran_LIBRARIES})
endif()

# Programs, which contain the libraries, and what comes with them.
function(lapse_install_program target name)
  if(TARGET ${target})
    install(PROGRAMS "$<TARGET_FILE:${target}>" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME ${name} COMPONENT programs)
  endif()
endfunction()
if(LAPSE_BUILD_APPS)
  lapse_install_program(lapse-options lapse-options)
  lapse_install_program(lapse-checkpoint lapse-checkpoint)
  lapse_install_program(lapse-viewer lapse-viewer)
  lapse_install_program(lapse-answers lapse-answers)
  lapse_install_program(lapse-report lapse-report)
  lapse_install_program(matrix_factorization lapse-matrix-factorization)
  lapse_install_program(knowledge_graph_embeddings lapse-knowledge-graph-embeddings)
  lapse_install_program(word_vectors lapse-word-vectors)
  lapse_install_program(linear_model lapse-linear-model)
  lapse_install_program(topic_model lapse-topic-model)
  lapse_install_python_programs()
  if(TARGET lapse_graph_python)
    install(TARGETS lapse_graph_python LIBRARY DESTINATION "${LAPSE_PYTHON_FOLDER}" COMPONENT programs)
  endif()
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/apps/recipes" "${PROJECT_SOURCE_DIR}/slurm"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/lapse" COMPONENT programs USE_SOURCE_PERMISSIONS
    PATTERN "__pycache__" EXCLUDE)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/package/installed_scripts.cmake.in"
    "${PROJECT_BINARY_DIR}/package/installed_scripts.cmake" @ONLY)
  install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND \"\${CMAKE_COMMAND}\"
    \"-DCMAKE_INSTALL_PREFIX=\${CMAKE_INSTALL_PREFIX}\" -P \"${PROJECT_BINARY_DIR}/package/installed_scripts.cmake\")"
    COMPONENT programs)
  # Python programs find it in this folder: the package of Python is not one of an interpreter's version.
  install(FILES "${PROJECT_SOURCE_DIR}/lapse/checkpoint/lapse_checkpoint.py" "${PROJECT_SOURCE_DIR}/apps/answers/lapse_answers.py"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/lapse/python" COMPONENT programs)
endif()
set(module_folder "${CMAKE_INSTALL_DATADIR}/lapse/modulefiles/lapse")
file(RELATIVE_PATH LAPSE_MODULE_TO_PREFIX "/prefix/${module_folder}" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/packaging/modulefiles/lapse.in" "${PROJECT_BINARY_DIR}/package/modulefile" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/modulefile" DESTINATION "${module_folder}" RENAME "${PROJECT_VERSION}"
  COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documentation
  PATTERN "model" EXCLUDE PATTERN "reference" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documentation)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documentation
  REGEX "/examples/CMakeLists.txt$" EXCLUDE)
install(FILES "${CMAKE_CURRENT_LIST_DIR}/package/examples.cmake" DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
  RENAME CMakeLists.txt COMPONENT documentation)
configure_file("${CMAKE_CURRENT_LIST_DIR}/package/installed_pages.cmake.in"
  "${PROJECT_BINARY_DIR}/package/installed_pages.cmake" @ONLY)
install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND \"\${CMAKE_COMMAND}\"
  \"-DCMAKE_INSTALL_PREFIX=\${CMAKE_INSTALL_PREFIX}\" -P \"${PROJECT_BINARY_DIR}/package/installed_pages.cmake\")"
  COMPONENT documentation)
