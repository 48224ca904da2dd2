#include "bench/support/ping_pong.hpp"

#include <vector>

#include "bench/support/joint_timer.hpp"

namespace lapse::bench {

namespace {

using Buffer = std::vector<std::byte>;

void send(MPI_Comm communicator, const Buffer& buffer, int to) {
  MPI_Send(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, to, 0, communicator);
}

void receive(MPI_Comm communicator, Buffer& buffer, int from) {
  MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, from, 0, communicator,
           MPI_STATUS_IGNORE);
}

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

// Rank 0 measures the time of ask(); the other ranks call help().
template <class Ask, class Help>
double timed(MPI_Comm communicator, Ask&& ask, Help&& help) {
  const int rank = rank_in(communicator);
  MPI_Barrier(communicator);
  const Clock::time_point begin = Clock::now();
  if (rank == 0) {
    ask();
  } else {
    help(rank);
  }
  const double seconds = seconds_between(begin, Clock::now());
  MPI_Barrier(communicator);
  return rank == 0 ? seconds : 0;
}

}  // namespace

double ping_pong(MPI_Comm communicator, std::size_t rounds, const MessagePair& messages) {
  Buffer request(messages.request_bytes);
  Buffer answer(messages.answer_bytes);
  return timed(
      communicator,
      [&] {
        for (std::size_t round = 0; round < rounds; ++round) {
          send(communicator, request, 1);
          receive(communicator, answer, 1);
        }
      },
      [&](int rank) {
        for (std::size_t round = 0; rank == 1 && round < rounds; ++round) {
          receive(communicator, request, 0);
          send(communicator, answer, 0);
        }
      });
}

double pipelined_ping_pong(MPI_Comm communicator, std::size_t rounds, const MessagePair& messages) {
  std::vector<Buffer> requests(rounds, Buffer(messages.request_bytes));
  std::vector<Buffer> answers(rounds, Buffer(messages.answer_bytes));
  std::vector<MPI_Request> open(2 * rounds, MPI_REQUEST_NULL);
  const auto wait_for_all = [&] {
    MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE);
  };
  return timed(
      communicator,
      [&] {
        for (std::size_t round = 0; round < rounds; ++round) {
          MPI_Irecv(answers[round].data(), static_cast<int>(answers[round].size()), MPI_BYTE, 1, 0,
                    communicator, &open[2 * round]);
          MPI_Isend(requests[round].data(), static_cast<int>(requests[round].size()), MPI_BYTE, 1, 0,
                    communicator, &open[2 * round + 1]);
        }
        wait_for_all();
      },
      [&](int rank) {
        if (rank != 1) return;
        for (std::size_t round = 0; round < rounds; ++round) {
          receive(communicator, requests[round], 0);
          MPI_Isend(answers[round].data(), static_cast<int>(answers[round].size()), MPI_BYTE, 0, 0,
                    communicator, &open[round]);
        }
        wait_for_all();
      });
}

double triangle(MPI_Comm communicator, std::size_t rounds, const MessagePair& messages) {
  Buffer request(messages.request_bytes);
  Buffer answer(messages.answer_bytes);
  return timed(
      communicator,
      [&] {
        for (std::size_t round = 0; round < rounds; ++round) {
          send(communicator, request, 2);
          receive(communicator, answer, 1);
        }
      },
      [&](int rank) {
        for (std::size_t round = 0; rank <= 2 && round < rounds; ++round) {
          receive(communicator, request, rank == 2 ? 0 : 2);
          if (rank == 2) {
            send(communicator, request, 1);
          } else {
            send(communicator, answer, 0);
          }
        }
      });
}

}  // namespace lapse::bench
