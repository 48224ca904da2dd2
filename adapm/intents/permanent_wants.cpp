#include "adapm/intents/permanent_wants.hpp"

#include <algorithm>
#include <utility>

namespace adapm {

using lapse::Key;

void PermanentWants::add(lapse::TableId table, KeyRange range, Serves serves) {
  if (range.size() > 0) parts_.push_back({table, range, {}, std::move(serves)});
}

void PermanentWants::add(lapse::TableId table, std::vector<Key> keys, Serves serves) {
  const KeyRange elements{Key(0), Key(keys.size())};
  if (!keys.empty()) parts_.push_back({table, elements, std::move(keys), std::move(serves)});
}

std::size_t PermanentWants::want_some(lapse::WantSink& sink, std::size_t limit) {
  std::size_t wanted = 0;
  while (!parts_.empty() && limit > 0) {
    Part& part = parts_.front();
    const std::uint64_t step = std::min<std::uint64_t>(limit, part.range.size());
    const Key end(part.range.first.value() + step);
    served_.clear();
    for (std::uint64_t i = part.range.first.value(); i < end.value(); ++i) {
      const Key key = part.keys.empty() ? Key(i) : part.keys[i];
      if (part.serves(key)) served_.push_back(key);
    }
    if (!served_.empty()) sink.want(part.table, served_);
    wanted += served_.size();
    limit -= step;
    part.range.first = end;
    if (part.range.size() == 0) parts_.pop_front();
  }
  return wanted;
}

}  // namespace adapm
