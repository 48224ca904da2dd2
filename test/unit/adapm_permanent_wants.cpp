#include "adapm/intents/permanent_wants.hpp"

#include "test/support/catch.hpp"
#include "test/unit/adapm_want_recorder.hpp"

using namespace adapm;
using lapse::Key;
using lapse::TableId;

TEST_CASE("Each rank wants the keys that it serves, once, some in each round") {
  lapse::progress_role.assert_held();
  PermanentWants wants;
  test::WantRecorder sink;
  CHECK(wants.want_some(sink) == 0);
  wants.add(TableId(0), KeyRange{Key(0), Key(1000)}, [](Key key) { return key.value() % 3 == 0; });
  wants.add(TableId(4), {Key(7), Key(8), Key(99)}, [](Key key) { return key != Key(8); });
  wants.add(TableId(5), std::vector<Key>{}, [](Key) { return true; });
  std::size_t wanted = 0;
  int rounds = 0;
  while (!wants.empty()) {
    wanted += wants.want_some(sink, 100);
    ++rounds;
  }
  CHECK(rounds == 11);
  CHECK(wanted == 334 + 2);
  CHECK(sink.counts.size() == wanted);
  CHECK(sink.wanted(4) == std::vector<std::uint64_t>{7, 99});
  CHECK(sink.wanted(0)[1] == 3);
  for (const auto& [key, count] : sink.counts) CHECK(count == 1);
}
