#include "lapse/transport/engine/submission_queue.hpp"

#include <thread>
#include <vector>

#include "test/support/catch.hpp"

using lapse::Submission;
using lapse::SubmissionQueue;

namespace {

struct Numbered : Submission {
  std::size_t producer = 0;
  std::size_t number = 0;
};

}  // namespace

TEST_CASE("Submissions come out oldest first, all at once") {
  SubmissionQueue queue;
  CHECK(queue.empty());
  CHECK(queue.take_all() == nullptr);
  std::vector<Submission> submissions(3);
  for (Submission& submission : submissions) queue.push(submission);
  CHECK_FALSE(queue.empty());
  Submission* first = queue.take_all();
  CHECK(first == &submissions[0]);
  CHECK(first->next == &submissions[1]);
  CHECK(first->next->next == &submissions[2]);
  CHECK(first->next->next->next == nullptr);
  CHECK(queue.empty());
  // A submission may be used again.
  queue.push(submissions[1]);
  CHECK(queue.take_all() == &submissions[1]);
}

TEST_CASE("With many producers nothing is lost and each producer's order holds") {
  constexpr std::size_t kProducers = 4;
  constexpr std::size_t kEach = 20'000;
  SubmissionQueue queue;
  std::vector<std::vector<Numbered>> submissions(kProducers, std::vector<Numbered>(kEach));
  std::vector<std::thread> producers;
  for (std::size_t producer = 0; producer < kProducers; ++producer) {
    producers.emplace_back([&, producer] {
      for (std::size_t i = 0; i < kEach; ++i) {
        submissions[producer][i].producer = producer;
        submissions[producer][i].number = i;
        queue.push(submissions[producer][i]);
        if (i % 1024 == 0) std::this_thread::yield();
      }
    });
  }
  std::vector<std::size_t> next(kProducers);
  std::size_t out_of_order = 0;
  for (std::size_t taken = 0; taken < kProducers * kEach;) {
    Submission* submission = queue.take_all();
    if (submission == nullptr) std::this_thread::yield();
    for (; submission != nullptr; ++taken) {
      const auto& numbered = static_cast<Numbered&>(*submission);
      submission = submission->next;
      if (numbered.number != next[numbered.producer]++) ++out_of_order;
    }
  }
  for (std::thread& producer : producers) producer.join();
  CHECK(out_of_order == 0);
  CHECK(queue.empty());
}
