// Infers the topics of documents and writes them to a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/topic_model/topic_priors.hpp"
#include "apps/topic_model/topic_tables.hpp"
#include "lapse/io/documents/bag_of_words.hpp"

namespace lapse::apps {

// Collective. Infers the mixture of topics of each document with the counts in the tables (DocumentMixture),
// by the workers, and writes on rank 0 a line for each, in their order: the number of the document, from 1,
// and the share of each topic, separated by tabs. `bag`: the documents of this rank's `workers`
// (load_documents). The shares depend neither on ranks nor on workers, bit for bit. Throws PeerFailed on
// every rank, with the message of a FileError.
void write_document_topics(adapm::ParameterManager& manager, const TopicTables& tables,
                           const TopicPriors& priors, const io::BagOfWords& bag,
                           const std::vector<std::int32_t>& workers, const std::string& file);

}  // namespace lapse::apps
