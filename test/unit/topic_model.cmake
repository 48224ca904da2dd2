lapse_fast_compile(topic_model_options.cpp)
lapse_test(test_topic_model
  SOURCES
    topic_model_documents.cpp
    topic_model_evaluation.cpp
    topic_model_options.cpp
    topic_model_parts.cpp
    topic_model_priors.cpp
    topic_model_sampler.cpp
  DEPENDS lapse::app_topic_model lapse::io CLI11::CLI11 fmt::fmt)
