lapse_fast_compile(word_vectors_options.cpp)
lapse_test(test_word_vectors
  SOURCES
    word_vectors_batch.cpp
    word_vectors_corpus.cpp
    word_vectors_evaluation.cpp
    word_vectors_file.cpp
    word_vectors_options.cpp
  THREADED word_vectors_threads.cpp
  DEPENDS lapse::app_word_vectors lapse::io CLI11::CLI11 fmt::fmt)
