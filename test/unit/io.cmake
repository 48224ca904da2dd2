# Compiles and runs the program in docs/data-files.md.
lapse_example_in(docs/data-files.md data_files_example/data_files_example.hpp)

lapse_test(test_io
  SOURCES
    io_bag_of_words.cpp
    io_damaged_files.cpp
    io_documentation.cpp
    io_file_parts.cpp
    io_npy.cpp
    io_rating_columns.cpp
    io_rating_file.cpp
    io_shuffle_buffer.cpp
    io_svm_file.cpp
    io_triple_file.cpp
    io_utf8.cpp
    io_zipf_matrix.cpp
  THREADED io_file_descriptor.cpp io_input_stream.cpp io_line_reader.cpp io_prefetching_loader.cpp io_shared_inputs.cpp io_vocabulary.cpp
  DEPENDS lapse::io fmt::fmt ZLIB::ZLIB LibLZMA::LibLZMA PkgConfig::zstd)

# The library built without zlib, liblzma and libzstd.
lapse_test(test_io_missing
  SOURCES
    io_missing_compression.cpp
    ${PROJECT_SOURCE_DIR}/lapse/io/compressed/gzip_decompressor_missing.cpp
    ${PROJECT_SOURCE_DIR}/lapse/io/compressed/xz_decompressor_missing.cpp
    ${PROJECT_SOURCE_DIR}/lapse/io/compressed/zstd_decompressor_missing.cpp
  DEPENDS lapse::io)
target_include_directories(test_io PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/data_files_example")
target_compile_definitions(test_io PRIVATE LAPSE_DATA_FOLDER="${PROJECT_SOURCE_DIR}/apps/data")
