// Buffers of a hand-written MPI program that keeps several messages of one length in flight.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::bench {

// Messages with one tag, to or from one rank.
struct Channel {
  MPI_Comm communicator;
  int rank;
  int tag;
};

// Numbered messages of `length` elements: message n uses buffer n % slots, with a persistent request.
template <class T>
class MessageRing {
 public:
  MessageRing(std::size_t slots, std::size_t length)
      : length_(length), values_(slots * length), requests_(slots, MPI_REQUEST_NULL) {}
  // All messages are complete by then.
  ~MessageRing() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  MessageRing(const MessageRing&) = delete;
  MessageRing& operator=(const MessageRing&) = delete;

  std::size_t slots() const { return requests_.size(); }
  MPI_Request& request(std::size_t message) { return requests_[message % slots()]; }
  std::span<T> buffer(std::size_t message) {
    return std::span(values_).subspan(message % slots() * length_, length_);
  }
  int bytes() const { return static_cast<int>(length_ * sizeof(T)); }

 private:
  std::size_t length_;
  std::vector<T> values_;
  std::vector<MPI_Request> requests_;
};

// Receives are posted before their messages are sent: those of the first messages at once, and each further
// one when its buffer is released.
template <class T>
class ReceiveRing {
 public:
  ReceiveRing(const Channel& from, std::size_t slots, std::size_t length, std::size_t messages)
      : ring_(slots, length), messages_(messages) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      MPI_Recv_init(ring_.buffer(slot).data(), ring_.bytes(), MPI_BYTE, from.rank, from.tag,
                    from.communicator, &ring_.request(slot));
      if (slot < messages) MPI_Start(&ring_.request(slot));
    }
  }

  std::size_t slots() const { return ring_.slots(); }
  // For MPI_Waitany. Requires that the buffer of message `message - slots` was released.
  MPI_Request request(std::size_t message) { return ring_.request(message); }
  std::span<T> buffer(std::size_t message) { return ring_.buffer(message); }
  std::span<T> wait(std::size_t message) {
    MPI_Wait(&ring_.request(message), MPI_STATUS_IGNORE);
    return ring_.buffer(message);
  }
  void release(std::size_t message) {
    if (message + slots() < messages_) MPI_Start(&ring_.request(message));
  }

 private:
  MessageRing<T> ring_;
  std::size_t messages_;
};

template <class T>
class SendRing {
 public:
  SendRing(const Channel& to, std::size_t slots, std::size_t length) : ring_(slots, length) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      MPI_Send_init(ring_.buffer(slot).data(), ring_.bytes(), MPI_BYTE, to.rank, to.tag, to.communicator,
                    &ring_.request(slot));
    }
  }
  ~SendRing() {
    for (std::size_t slot = 0; slot < ring_.slots(); ++slot) wait(slot);
  }
  SendRing(const SendRing&) = delete;
  SendRing& operator=(const SendRing&) = delete;

  // Waits until the buffer's last message has left it.
  std::span<T> buffer(std::size_t message) {
    wait(message);
    return ring_.buffer(message);
  }
  void send(std::size_t message) { MPI_Start(&ring_.request(message)); }

 private:
  void wait(std::size_t message) { MPI_Wait(&ring_.request(message), MPI_STATUS_IGNORE); }

  MessageRing<T> ring_;
};

// Sends the keys of batches from where they are stored.
class KeySender {
 public:
  KeySender(const Channel& to, std::span<const Key> keys, std::size_t batch, std::size_t in_flight)
      : to_(to), keys_(keys), batch_(batch), requests_(in_flight, MPI_REQUEST_NULL) {}
  ~KeySender() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }
  KeySender(const KeySender&) = delete;
  KeySender& operator=(const KeySender&) = delete;

  std::size_t batches() const { return keys_.size() / batch_; }
  std::span<const Key> batch(std::size_t number) const { return keys_.subspan(number * batch_, batch_); }
  // Does nothing if there is no batch of this number.
  void send(std::size_t number) {
    if (number >= batches()) return;
    MPI_Request& request = requests_[number % requests_.size()];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const std::span<const Key> keys = batch(number);
    MPI_Isend(keys.data(), static_cast<int>(keys.size_bytes()), MPI_BYTE, to_.rank, to_.tag, to_.communicator,
              &request);
  }

 private:
  Channel to_;
  std::span<const Key> keys_;
  std::size_t batch_;
  std::vector<MPI_Request> requests_;
};

}  // namespace lapse::bench
