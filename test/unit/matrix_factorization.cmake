lapse_fast_compile(matrix_factorization_options.cpp)
lapse_test(test_matrix_factorization
  SOURCES
    matrix_factorization_learning_rate.cpp
    matrix_factorization_model.cpp
    matrix_factorization_options.cpp
    matrix_factorization_problem.cpp
    matrix_factorization_ranking.cpp
    matrix_factorization_schedule.cpp
  DEPENDS lapse::app_matrix_factorization lapse::io CLI11::CLI11 fmt::fmt)
