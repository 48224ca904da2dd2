// Whether the intents of a job can have had an effect.
#pragma once

#include <cstdint>
#include <string>

#include "lapse/core/export.hpp"

namespace adapm {

// What the workers of one rank, or of all, have done since the start. For techniques that act on intents.
struct LAPSE_EXPORT_INNER IntentEffect {
  std::uint64_t intents = 0;  // signaled
  std::uint64_t ended = 0;    // of these, those that had ended when signaled
  bool future = false;        // some intent began after its worker's clock
  bool advanced = false;      // some worker has advanced its clock

  IntentEffect& operator+=(const IntentEffect& other);

  // Describes why no intent can have had an effect; empty if that is not known.
  std::string problem() const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& intents& ended& future& advanced;
  }
};

}  // namespace adapm
