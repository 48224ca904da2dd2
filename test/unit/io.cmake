lapse_test(test_io
  SOURCES
    io_line_reader.cpp
    io_npy.cpp
    io_rating_file.cpp
    io_zipf_matrix.cpp
  DEPENDS lapse::io fmt::fmt)
