lapse_fast_compile(linear_model_options.cpp)
lapse_test(test_linear_model
  SOURCES
    linear_model_loss.cpp
    linear_model_options.cpp
    linear_model_samples.cpp
    linear_model_steps.cpp
  DEPENDS lapse::app_linear_model lapse::io CLI11::CLI11 fmt::fmt)
