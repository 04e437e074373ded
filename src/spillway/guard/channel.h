#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spillway/base/status.h"

namespace spillway {

// An owned file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// One end of a conversation between two processes: whole messages, in order, over a socket. A
// message counts once all of it has arrived; of one that was cut off by its sender's death nothing
// is ever seen. The end of the other process ends the conversation. One thread at a time.
class Channel {
 public:
  Channel() = default;
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}
  // Two ends of one.
  static Result<std::pair<Channel, Channel>> pair();

  // A message: facts about rows, or a text. Bytes of values go through the shared memory.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  enum class Got : std::uint8_t { kAll, kClosed, kGaveUp };
  // Asked about every 20 ms while waiting; true: give up.
  using GiveUp = std::function<bool()>;

  // Descriptors travel with the message.
  Got send(std::string_view message, const GiveUp& give_up, std::span<const int> fds = {});
  Got receive(std::string& message, const GiveUp& give_up, std::vector<Descriptor>* fds = nullptr);
  // One that announces more ends the conversation: nobody makes this process hold it.
  void expect_at_most(std::size_t bytes) { most_ = bytes; }
  // The end of this process ends the conversation too, once all that it sent was received: others
  // may have inherited its end of the socket.
  void ends_with(int pidfd) { pidfd_ = pidfd; }
  int fd() const { return socket_.get(); }
  void close() { socket_ = Descriptor(); }

 private:
  Got wait(short events, const GiveUp& give_up) const;
  void take(std::string& message, std::size_t length);

  Descriptor socket_;
  int pidfd_ = -1;
  std::size_t most_ = kMostBytes;
  std::vector<char> buffer_;  // holds what has arrived and was not handed out yet, and room behind
  std::size_t arrived_ = 0;
};

}  // namespace spillway
