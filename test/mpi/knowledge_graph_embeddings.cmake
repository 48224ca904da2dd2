lapse_test(knowledge_graph_embeddings_mpi
  SOURCES knowledge_graph_embeddings.cpp knowledge_graph_embeddings_recipes.cpp knowledge_graph_embeddings_techniques.cpp
  DEPENDS lapse::app_knowledge_graph_embeddings lapse::io fmt::fmt
  RANKS 1 2 4
  DOMAINS rank)

# Runs the program like a user does. Starting and ending it again and again leaves half of two processors idle.
if(LAPSE_BUILD_APPS)
  foreach(ranks IN ITEMS 1 3)
    lapse_add_test(knowledge_graph_embeddings_program.ranks_${ranks}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
              "${CMAKE_CURRENT_SOURCE_DIR}/knowledge_graph_embeddings_program.sh"
              $<TARGET_FILE:knowledge_graph_embeddings> "${PROJECT_SOURCE_DIR}/apps/data/wn18rr" ${LAPSE_LAUNCHER}
              ${ranks}
      LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS 1)
  endforeach()
endif()
