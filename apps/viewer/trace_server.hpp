// Serves the viewer's page, and traces that may still grow, to a browser on this machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lapse::apps {

// A run whose files may not exist yet.
struct ServedRun {
  std::string name;
  std::string prefix;  // of the files of its ranks
};

// Answers only requests that have its token. Reads the files, and nothing else; a job that writes them is not
// aware of it. Thread safety: stop: any thread; everything else: one thread.
class TraceServer {
 public:
  // Listens on 127.0.0.1; port 0: a free one. Throws ConfigurationError if the port cannot be had, and for
  // runs of one name.
  TraceServer(std::vector<ServedRun> runs, std::uint16_t port);
  ~TraceServer();
  TraceServer(const TraceServer&) = delete;
  TraceServer& operator=(const TraceServer&) = delete;

  // The address to open, with the token.
  std::string address() const;
  // Answers requests until stop.
  void run();
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapse::apps
