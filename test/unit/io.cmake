# The program text in docs/data-files.md is compiled and run.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/data-files.md")
file(READ "${PROJECT_SOURCE_DIR}/docs/data-files.md" document)
string(FIND "${document}" "```cpp\n" begin)
string(SUBSTRING "${document}" ${begin} -1 document)
string(LENGTH "```cpp\n" begin)
string(SUBSTRING "${document}" ${begin} -1 document)
string(FIND "${document}" "```" end)
string(SUBSTRING "${document}" 0 ${end} example)
file(CONFIGURE OUTPUT data_files_example/data_files_example.hpp CONTENT "${example}" @ONLY)

lapse_test(test_io
  SOURCES
    io_damaged_files.cpp
    io_documentation.cpp
    io_file_parts.cpp
    io_input_stream.cpp
    io_line_reader.cpp
    io_npy.cpp
    io_rating_file.cpp
    io_triple_file.cpp
    io_vocabulary.cpp
    io_zipf_matrix.cpp
  DEPENDS lapse::io fmt::fmt ZLIB::ZLIB LibLZMA::LibLZMA PkgConfig::zstd)
target_include_directories(test_io PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/data_files_example")
target_compile_definitions(test_io PRIVATE LAPSE_DATA_FOLDER="${PROJECT_SOURCE_DIR}/apps/data")
