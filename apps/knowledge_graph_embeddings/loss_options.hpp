// The loss that training minimizes.
#pragma once

#include "apps/knowledge_graph_embeddings/query_maker.hpp"
#include "apps/knowledge_graph_embeddings/score_losses.hpp"

namespace lapse::apps {

struct LossOptions {
  LossKind kind = LossKind::logistic;
  double l2 = 0.01;  // see Regularizer
  double n3 = 0;
  DropoutOptions dropout = {};
};

}  // namespace lapse::apps
