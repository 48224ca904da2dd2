#include "lapse/transport/engine/help_record.hpp"

#include "test/support/catch.hpp"

using namespace lapse;

TEST_CASE("The serving thread leaves the polls to workers that help, and to those that have just helped") {
  HelpRecord record;
  HelpRecord::View server(record);
  CHECK_FALSE(server.is_helped());
  record.begin();
  record.stay();
  CHECK(server.is_helped());
  CHECK(server.is_helped());
  record.end_stay();
  CHECK_FALSE(server.is_helped());
  record.begin();
  CHECK(server.is_helped());
  CHECK_FALSE(server.is_helped());
}

TEST_CASE("It polls itself for a packet that was left waiting for room, until a worker helps again") {
  HelpRecord record;
  HelpRecord::View server(record);
  record.begin();
  record.leave_packet();
  CHECK(record.awaits_room());
  CHECK_FALSE(server.is_helped());
  server.take_over();
  CHECK_FALSE(record.awaits_room());
  CHECK_FALSE(server.is_helped());
  record.begin();
  CHECK(server.is_helped());
}

// A worker enters and leaves after the serving thread has decided to poll, before it holds the progress lock.
// If the packet still does not fit after the poll, no other thread polls for it.
TEST_CASE("It does not count on a worker that helped before its own poll") {
  HelpRecord record;
  HelpRecord::View server(record);
  REQUIRE_FALSE(server.is_helped());
  record.begin();
  record.leave_packet();
  server.take_over();
  CHECK_FALSE(server.is_helped());
}
