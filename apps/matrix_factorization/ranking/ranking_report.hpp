// Presents the quality of rankings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "apps/common/summary.hpp"
#include "apps/matrix_factorization/ranking/ranking_quality.hpp"

namespace lapse::apps {

// "NDCG@10 0.1234  MAP@10 …  recall@10 …  precision@10 …  AUC …"; empty without users.
std::string describe(const RankingQuality& quality, std::size_t top);

// `, "test_ndcg_at_10": …` and so on for an object in JSON; null without users.
std::string quality_json(const RankingQuality& quality, std::size_t top);

// Adds the measures, with names that begin with `prefix`; labelled if `shown`. Nothing without users.
void add_quality(Summary& summary, std::string_view prefix, const RankingQuality& quality, std::size_t top,
                 bool shown);

}  // namespace lapse::apps
