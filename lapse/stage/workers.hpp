// How many workers a stage has, and where.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace lapse::stage {

// Workers on a rank.
struct Place {
  std::int32_t rank = 0;
  std::int32_t workers = 0;
  bool operator==(const Place&) const = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& rank& workers;
  }
};

class Workers {
 public:
  enum class Kind : std::uint8_t {
    automatic,  // the engine finds the number by measuring; the stage needs iterations
    number,     // on ranks that the engine chooses
    places,     // exactly these
    all_slots,  // every slot of the run
  };

  // At least 1.
  Workers(std::int32_t number) : kind_(Kind::number), number_(number) {}
  // Each rank at most once.
  Workers(std::initializer_list<Place> places) : kind_(Kind::places), places_(places) {}
  explicit Workers(std::vector<Place> places) : kind_(Kind::places), places_(std::move(places)) {}

  Kind kind() const { return kind_; }
  std::int32_t number() const { return number_; }
  const std::vector<Place>& places() const { return places_; }
  bool operator==(const Workers&) const = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& kind_& number_& places_;
  }

 private:
  friend Workers automatic();
  friend Workers all_slots();
  explicit Workers(Kind kind) : kind_(kind) {}

  Kind kind_;
  std::int32_t number_ = 0;
  std::vector<Place> places_;
};

inline Workers automatic() {
  return Workers(Workers::Kind::automatic);
}
inline Workers all_slots() {
  return Workers(Workers::Kind::all_slots);
}

}  // namespace lapse::stage
