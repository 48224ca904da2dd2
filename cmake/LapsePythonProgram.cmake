# lapse_python_program(<name>): apps/<name>.py with its folder apps/<name>, which use the package for Python: a script of this
# name in the build folder, a target, and in an installation share/lapse/apps and bin/lapse-<name>.
function(lapse_python_program name)
  if(NOT LAPSE_PYTHON_FOUND)
    return()
  endif()
  set(template "${PROJECT_SOURCE_DIR}/cmake/package/python_program.in")
  set(places "package=\"${PROJECT_BINARY_DIR}/python\" programs=\"${PROJECT_SOURCE_DIR}/apps\"")
  configure_file("${template}" "${CMAKE_CURRENT_BINARY_DIR}/${name}" @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  add_custom_target(${name} ALL DEPENDS lapse_python)
  if(LAPSE_INSTALL AND LAPSE_BUILD_APPS)
    set_property(GLOBAL APPEND PROPERTY LAPSE_PYTHON_PROGRAMS ${name})
  endif()
endfunction()

# Installs what lapse_python_program has named.
function(lapse_install_python_programs)
  get_property(programs GLOBAL PROPERTY LAPSE_PYTHON_PROGRAMS)
  if(NOT programs)
    return()
  endif()
  file(RELATIVE_PATH to_package "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${LAPSE_PYTHON_FOLDER}")
  file(RELATIVE_PATH to_programs "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_DATADIR}/lapse/apps")
  set(places "here=$(dirname \"$(readlink -f \"$0\")\")\npackage=$here/${to_package} programs=$here/${to_programs}")
  foreach(name IN LISTS programs)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/package/python_program.in" "${PROJECT_BINARY_DIR}/package/${name}" @ONLY)
    string(REPLACE "_" "-" installed "lapse-${name}")
    install(PROGRAMS "${PROJECT_BINARY_DIR}/package/${name}" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME ${installed}
      COMPONENT programs)
    install(FILES "${PROJECT_SOURCE_DIR}/apps/${name}.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/lapse/apps" COMPONENT programs)
  endforeach()
  foreach(folder IN LISTS programs ITEMS torch_common)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/apps/${folder}" DESTINATION "${CMAKE_INSTALL_DATADIR}/lapse/apps"
      COMPONENT programs FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
  endforeach()
endfunction()
