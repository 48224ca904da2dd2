lapse_program(environment_program SOURCES environment_program.cpp DEPENDS lapse::ps)
