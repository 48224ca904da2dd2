lapse_test(test_io
  SOURCES
    io_line_reader.cpp
    io_npy.cpp
    io_rating_file.cpp
    io_triple_file.cpp
    io_vocabulary.cpp
    io_zipf_matrix.cpp
  DEPENDS lapse::io fmt::fmt ZLIB::ZLIB LibLZMA::LibLZMA PkgConfig::zstd)
target_compile_definitions(test_io PRIVATE LAPSE_DATA_FOLDER="${PROJECT_SOURCE_DIR}/apps/data")
