// The trace of an engine.
#include <mpi.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/stage/engine.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::stage;

TEST_CASE("The trace of an engine has a line for each part of a stage") {
  ParameterServer server(MPI_COMM_WORLD);
  // The ranks of a test may share a folder with those of another one.
  const auto path =
      std::filesystem::temp_directory_path() / ("lapse_stages_" + std::to_string(server.ranks()) + "_" +
                                                std::to_string(server.options().domain.ranks) + ".jsonl");
  EngineOptions options;
  options.slots = 2;
  options.part_time = std::chrono::nanoseconds(1);
  options.trace = path.string();
  {
    Engine engine(server, options);
    const auto iterate = [](Info& info) {
      for ([[maybe_unused]] const std::uint64_t iteration : info.iterations()) {
      }
    };
    engine.submit({.name = "traced",
                   .repeat = 2,
                   .stages = {{.name = "all", .f = iterate, .workers = all_slots(), .iterations = 25},
                              {.name = "one", .f = [](Info&) {}, .workers = 1}}});
    engine.submit(
        {.name = "failing \"",
         .stages = {
             {.name = "fails", .f = [](Info&) { throw std::runtime_error("no\xff"); }, .workers = 1}}});
    engine.run();
  }
  if (server.rank() == Rank(0)) {
    std::ifstream file(path);
    std::vector<nlohmann::json> parts;
    for (std::string line; std::getline(file, line);) parts.push_back(nlohmann::json::parse(line));
    REQUIRE(parts.size() == 2 * (3 + 1) + 1);
    std::uint64_t iterations = 0;
    for (const nlohmann::json& part : parts) {
      CHECK(part["stop"] >= part["begin"]);
      if (part["stage"] == "fails") {
        CHECK(part["task"] == "failing \"");
        CHECK(part["outcome"] != "done");
        continue;
      }
      CHECK(part["outcome"] == "done");
      iterations += part["end"].get<std::uint64_t>() - part["first"].get<std::uint64_t>();
      const std::size_t ranks = part["stage"] == "all" ? static_cast<std::size_t>(server.ranks()) : 1;
      CHECK(part["places"].size() == ranks);
    }
    CHECK(iterations == 50);
    std::filesystem::remove(path);
  }
  options.trace = "/no such folder/trace.jsonl";
  if (server.rank() == Rank(0)) {
    CHECK_THROWS_AS(Engine(server, options), FileError);
  } else {
    CHECK_THROWS_AS(Engine(server, options), PeerFailed);
  }
  server.close();
}
