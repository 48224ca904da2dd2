#include "lapse/io/vocabulary/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "lapse/core/bytes.hpp"
#include "lapse/core/error.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kFirstSlots = 16;

std::uint32_t hash_of(std::string_view name) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
}

// The first eight bytes as a number with the order of names; shorter names are padded with zeros.
std::uint64_t start_of(std::string_view name) {
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < sizeof(start); ++i) {
    start = start << 8U | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0U);
  }
  return start;
}

}  // namespace

Vocabulary::Id Vocabulary::add(std::string_view name, std::uint64_t occurrences) {
  if (name.empty()) throw UsageError("an empty name cannot be added to a vocabulary");
  if ((size() + 1) * 4 > slots_.size() * 3) grow();
  const std::uint32_t hash = hash_of(name);
  Slot& slot = slots_[slot_of(name, hash)];
  if (slot.id != kFree) {
    counts_[slot.id] += occurrences;
    return slot.id;
  }
  if (size() == kFree) throw UsageError(fmt::format("a vocabulary holds at most {} names", kFree));
  const Id id = static_cast<Id>(size());
  characters_.insert(characters_.end(), name.begin(), name.end());
  name_ends_.push_back(characters_.size());
  counts_.push_back(occurrences);
  slot = {hash, id};
  return id;
}

std::optional<Vocabulary::Id> Vocabulary::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const Id id = slots_[slot_of(name, hash_of(name))].id;
  return id == kFree ? std::nullopt : std::optional(id);
}

std::string_view Vocabulary::name(Id id) const {
  check(id);
  const std::uint64_t begin = id == 0 ? 0 : name_ends_[id - 1];
  return {characters_.data() + begin, name_ends_[id] - begin};
}

std::uint64_t Vocabulary::count(Id id) const {
  check(id);
  return counts_[id];
}

void Vocabulary::check(Id id) const {
  if (id >= size()) throw UsageError(fmt::format("id {} of a vocabulary of {} names", id, size()));
}

std::size_t Vocabulary::slot_of(std::string_view name, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.id == kFree || (slot.hash == hash && this->name(slot.id) == name)) return i;
  }
}

void Vocabulary::grow() {
  std::vector<Slot> old(std::max(kFirstSlots, slots_.size() * 2));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == kFree) continue;
    std::size_t i = slot.hash & mask;
    while (slots_[i].id != kFree) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

Vocabulary Vocabulary::sorted() const {
  // Most comparisons end at count and start, without reading the names, which are scattered in memory.
  struct Entry {
    std::uint64_t count;
    std::uint64_t start;
    Id id;
  };
  std::vector<Entry> order;
  order.reserve(size());
  for (Id id = 0; id < size(); ++id) order.push_back({counts_[id], start_of(name(id)), id});
  std::sort(order.begin(), order.end(), [this](const Entry& a, const Entry& b) {
    if (a.count != b.count) return a.count > b.count;
    return a.start != b.start ? a.start < b.start : name(a.id) < name(b.id);
  });
  Vocabulary result;
  result.characters_.reserve(characters_.size());
  result.name_ends_.reserve(size());
  result.counts_.reserve(size());
  for (const Entry& entry : order) result.add(name(entry.id), entry.count);
  return result;
}

std::vector<Vocabulary::Id> Vocabulary::translation_to(const Vocabulary& other) const {
  std::vector<Id> ids(size());
  for (Id id = 0; id < size(); ++id) {
    const auto found = other.find(name(id));
    if (!found) {
      throw UsageError(
          fmt::format("name '{}' is not in the vocabulary that ids are translated to", shown(name(id))));
    }
    ids[id] = *found;
  }
  return ids;
}

std::vector<std::byte> Vocabulary::to_bytes() const {
  std::vector<std::byte> bytes;
  bytes.reserve(characters_.size() + size() * (sizeof(std::uint64_t) + sizeof(std::uint32_t)));
  ByteWriter writer(bytes);
  for (Id id = 0; id < size(); ++id) {
    writer.write(counts_[id]);
    writer.write_string(name(id));
  }
  return bytes;
}

void Vocabulary::add_bytes(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "vocabulary");
  while (reader.remaining() > 0) {
    const auto occurrences = reader.read<std::uint64_t>();
    const auto characters = reader.read_bytes(reader.read<std::uint32_t>());
    if (characters.empty()) throw ProtocolError("vocabulary: empty name");
    add({reinterpret_cast<const char*>(characters.data()), characters.size()}, occurrences);
  }
}

std::size_t Vocabulary::memory_bytes() const {
  return characters_.capacity() + (name_ends_.capacity() + counts_.capacity()) * sizeof(std::uint64_t) +
         slots_.capacity() * sizeof(Slot);
}

}  // namespace lapse::io
