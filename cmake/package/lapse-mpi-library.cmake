# lapse_mpi_abi(<variable> <paths of MPI's libraries>): the name under which programs load MPI, such as libmpi.so.40,
# which MPI libraries that may take each other's place have in common; empty where it is not known.
function(lapse_mpi_abi variable)
  set(${variable} "" PARENT_SCOPE)
  foreach(library IN LISTS ARGN)
    get_filename_component(name "${library}" NAME)
    # Beside it may stand bindings for other languages and what MPI itself is built on.
    if(name MATCHES "^libmpi(ch|_.*)?\\.(so|a)" AND NOT name MATCHES "^libmpi_?(cxx|usempi|mpifh)")
      get_filename_component(library "${library}" REALPATH)
      get_filename_component(name "${library}" NAME)
      string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" name "${name}")
      set(${variable} "${name}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
