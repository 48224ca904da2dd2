// The resources that a process uses, and whether they grow.
#pragma once

#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::test {

// The resources of a rank. Those of a job are the sum over its ranks.
class SoakMemory {
 public:
  struct Kind {
    std::string_view name;
    std::int64_t unit;   // of the printed numbers
    std::int64_t bound;  // on the growth per rank
  };
  // Bounds: queues and pools keep their largest size, and peaks depend on the order of messages. Memory that
  // MPI keeps for messages is part of the heap and of the private memory; it is not counted separately.
  static constexpr std::array<Kind, 7> kKinds{{{"heap KiB", 1024, 1 << 20},
                                               {"private KiB", 1024, 4 << 20},
                                               {"shared KiB", 1024, 1 << 20},
                                               {"files", 1, 0},
                                               {"threads", 1, 0},
                                               {"/dev/shm KiB", 1024, 0},
                                               {"its files", 1, 0}}};
  using Numbers = std::array<std::int64_t, kKinds.size()>;

  // Of this process, and of the file system /dev/shm: memory that this process has mapped from it, and the
  // names of this job.
  static Numbers of_process() {
    const struct mallinfo2 heap = mallinfo2();
    const auto files = std::filesystem::directory_iterator("/proc/self/fd");
    // One of the files is the folder itself.
    return {static_cast<std::int64_t>(heap.uordblks + heap.hblkhd),
            status("RssAnon:") * 1024,
            status("RssShmem:") * 1024,
            std::distance(begin(files), end(files)) - 1,
            status("Threads:"),
            mapped("/dev/shm/"),
            files_of_job()};
  }
  // Collective.
  static Numbers of_job() {
    Numbers own = of_process();
    Numbers all{};
    MPI_Allreduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  void add(const Numbers& numbers) { all_.push_back(numbers); }

  // Describes what has grown: its smallest amount in the last quarter of the run exceeds its largest in the
  // second quarter by more than the bound. So neither a slow start nor a single peak counts. Empty if nothing
  // has grown.
  std::string growth(int ranks) const {
    std::string text;
    const std::size_t quarter = all_.size() / 4;
    if (quarter < 2)
      return "not checked: " + std::to_string(all_.size()) +
             " reports, expected at least 8: it must run longer";
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      std::int64_t before = 0;
      std::int64_t after = INT64_MAX;
      for (std::size_t i = quarter; i < 2 * quarter; ++i) before = std::max(before, all_[i][kind]);
      for (std::size_t i = all_.size() - quarter; i < all_.size(); ++i)
        after = std::min(after, all_[i][kind]);
      if (after <= before + ranks * kKinds[kind].bound) continue;
      text += std::string(kKinds[kind].name) + ": " + std::to_string(before / kKinds[kind].unit) + ", then " +
              std::to_string(after / kKinds[kind].unit) + "; ";
    }
    return text;
  }
  std::size_t count() const { return all_.size(); }

 private:
  static std::int64_t status(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;) {
      std::int64_t number = 0;
      if (word == name && file >> number) return number;
    }
    return 0;
  }
  // Bytes of address space.
  static std::int64_t mapped(std::string_view prefix) {
    std::ifstream file("/proc/self/maps");
    std::int64_t bytes = 0;
    for (std::string line; std::getline(file, line);) {
      unsigned long begin = 0;
      unsigned long end = 0;
      const std::size_t path = line.find('/');
      if (path == std::string::npos || line.compare(path, prefix.size(), prefix) != 0) continue;
      if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2)
        bytes += static_cast<std::int64_t>(end - begin);
    }
    return bytes;
  }

  // Names in /dev/shm with the number of this job, in Open MPI's form: eight hexadecimal digits between
  // points. Includes what is left there without being mapped.
  static std::int64_t files_of_job() {
    static const std::string job = number_of_job();
    if (job.empty()) return 0;
    const auto files = std::filesystem::directory_iterator("/dev/shm");
    return std::count_if(begin(files), end(files), [](const auto& file) {
      return file.path().filename().string().find(job) != std::string::npos;
    });
  }
  static std::string number_of_job() {
    constexpr std::size_t kDigits = 8;
    std::ifstream file("/proc/self/maps");
    for (std::string line; std::getline(file, line);) {
      if (line.find("/dev/shm/") == std::string::npos) continue;
      for (std::size_t at = line.find('.'); at != std::string::npos; at = line.find('.', at + 1)) {
        const std::size_t end = line.find_first_not_of("0123456789abcdef", at + 1);
        if (end != std::string::npos && line[end] == '.' && end - at == kDigits + 1)
          return line.substr(at, kDigits + 2);
      }
    }
    return {};
  }

  std::vector<Numbers> all_;
};

}  // namespace lapse::test
