lapse_fast_compile(knowledge_graph_embeddings_options.cpp)
lapse_test(test_knowledge_graph_embeddings
  SOURCES
    knowledge_graph_embeddings_arithmetic.cpp
    knowledge_graph_embeddings_batch.cpp
    knowledge_graph_embeddings_graph.cpp
    knowledge_graph_embeddings_loss.cpp
    knowledge_graph_embeddings_loss_shared.cpp
    knowledge_graph_embeddings_models.cpp
    knowledge_graph_embeddings_options.cpp
    knowledge_graph_embeddings_partition.cpp
    knowledge_graph_embeddings_ranking.cpp
    knowledge_graph_embeddings_schedule.cpp
  DEPENDS lapse::app_knowledge_graph_embeddings lapse::io CLI11::CLI11 fmt::fmt)
