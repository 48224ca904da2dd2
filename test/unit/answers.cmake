lapse_test(test_answers
  SOURCES answers.cpp
  DEPENDS lapse::app_answers)
