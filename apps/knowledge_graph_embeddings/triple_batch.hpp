// Triples that are trained together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "adapm/sampler.hpp"
#include "apps/common/key_slots.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/triple_query.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

// Which queries have the same negatives.
enum class NegativeSharing : std::uint8_t {
  none,   // each has its own, drawn uniformly
  batch,  // all of a batch share distinct entities, drawn uniformly: fewer embeddings are accessed
  all     // all: every entity is a candidate of every query
};

struct NegativeOptions {
  std::size_t per_side = 10;  // per triple: with another subject, and with another object
  NegativeSharing sharing = NegativeSharing::none;
};

// Triples and their negatives: the distinct keys of their embeddings, and the slots of each triple. Shared
// negatives have the first slots. Used by one thread at a time.
class TripleBatch {
 public:
  std::span<const Key> entities() const { return entities_; }
  std::span<const Key> relations() const { return relations_; }

  std::span<const Triple> triples = {};
  // The sample of negatives still to be drawn; nullopt if the batch has them.
  std::optional<adapm::PreparedSample<float>> sample = {};

 private:
  friend class TripleBatcher;
  friend class BatchInFlight;

  struct Slots {
    std::uint32_t subject;
    std::uint32_t relation;
    std::uint32_t object;
    std::uint32_t inverse_relation;  // with reciprocal relations
  };

  std::vector<Key> entities_;
  std::vector<Key> relations_;
  std::vector<Slots> triples_;
  std::uint32_t shared_ = 0;                   // negatives of all triples
  std::vector<std::uint32_t> negative_slots_;  // per triple: other subjects, then other objects
};

// Makes batches of triples: draws their negatives and collects their keys. The draws depend only on seed,
// stream and the order of the triples. Used by one thread at a time.
class TripleBatcher {
 public:
  // Requires at least as many entities as shared negatives.
  TripleBatcher(const KnowledgeGraph& graph, const QueryForm& form, const NegativeOptions& negatives)
      : entities_(graph.entities),
        form_(form),
        negatives_(negatives),
        entity_slots_(graph.entities),
        relation_slots_(form.relation_keys()) {}

  void seed(std::uint64_t seed, std::uint64_t stream) { random_ = RandomEngine(seed, stream); }
  // Fills the batch with its triples and drawn negatives.
  void fill(TripleBatch& batch);
  // The same with these negatives, count() many; distinct if triples share them.
  void fill(TripleBatch& batch, std::span<const Key> negatives);
  // Collects only the keys of the triples, to announce them; keys may repeat.
  void collect(TripleBatch& batch) const;
  // The number of negatives for `triples` triples.
  std::size_t count(std::size_t triples) const;

 private:
  template <class Draw>
  void fill_with(TripleBatch& batch, Draw&& draw);

  std::uint64_t entities_;
  QueryForm form_;
  NegativeOptions negatives_;
  KeySlots entity_slots_;
  KeySlots relation_slots_;
  RandomEngine random_{0};
};

}  // namespace lapse::apps
