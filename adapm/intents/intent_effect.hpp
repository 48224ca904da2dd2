// Whether the intents of a job can have had an effect.
#pragma once

#include <cstdint>
#include <string>

#include "lapse/core/export.hpp"

namespace adapm {

// What the workers of a rank, or of all, have done since the start, with a technique that acts on intents.
struct LAPSE_EXPORT_INNER IntentEffect {
  std::uint64_t intents = 0;  // that were signaled
  std::uint64_t ended = 0;    // of these, those that had ended when they were signaled
  bool future = false;        // some began after the clock of their worker
  bool advanced = false;      // some worker has advanced its clock

  IntentEffect& operator+=(const IntentEffect& other);

  // What is wrong with the program that has signaled so; empty: nothing.
  std::string problem() const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& intents& ended& future& advanced;
  }
};

}  // namespace adapm
