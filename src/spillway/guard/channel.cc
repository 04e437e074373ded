#include "spillway/guard/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "spillway/base/test_point.h"

namespace spillway {
namespace {

constexpr int kSliceMs = 20;
constexpr std::size_t kMostFds = 8;
constexpr std::size_t kRead = 64 * 1024;
constexpr std::size_t kMostKept = 4 * kRead;

bool again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Result<std::pair<Channel, Channel>> Channel::pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return out_of_resource("no socket for a worker: ", std::strerror(errno));
  }
  return std::pair(Channel(Descriptor(ends[0])), Channel(Descriptor(ends[1])));
}

Channel::Got Channel::wait(short events, const GiveUp& give_up) const {
  std::array<pollfd, 2> both{{{socket_.get(), events, 0}, {pidfd_, POLLIN, 0}}};
  for (;;) {
    const int ready = poll(both.data(), both.size(), kSliceMs);
    if (ready > 0) return both[0].revents != 0 ? Got::kAll : Got::kClosed;
    if (ready < 0 && errno != EINTR) return Got::kClosed;
    if (give_up && give_up()) return Got::kGaveUp;
  }
}

Channel::Got Channel::send(std::string_view message, const GiveUp& give_up,
                           std::span<const int> fds) {
  const std::uint64_t length = message.size();
  std::array<iovec, 2> parts{{{const_cast<std::uint64_t*>(&length), sizeof(length)},
                              {const_cast<char*>(message.data()), message.size()}}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* const item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(item), fds.data(), fds.size_bytes());
  }
  while (header.msg_iovlen > 0) {
    const ssize_t sent = sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
    if (sent < 0) {
      if (!again(errno)) return Got::kClosed;
      const Got got = wait(POLLOUT, give_up);
      if (got != Got::kAll) return got;
      continue;
    }
    header.msg_control = nullptr;
    header.msg_controllen = 0;
    auto left = static_cast<std::size_t>(sent);
    while (header.msg_iovlen > 0 && left >= header.msg_iov->iov_len) {
      left -= header.msg_iov->iov_len;
      ++header.msg_iov;
      --header.msg_iovlen;
    }
    if (header.msg_iovlen > 0) {
      SW_TEST_POINT("half a message is sent");
      header.msg_iov->iov_base = static_cast<char*>(header.msg_iov->iov_base) + left;
      header.msg_iov->iov_len -= left;
    }
  }
  return Got::kAll;
}

void Channel::take(std::string& message, std::size_t length) {
  const std::size_t taken = sizeof(std::uint64_t) + length;
  message.assign(buffer_.data() + sizeof(std::uint64_t), length);
  std::memmove(buffer_.data(), buffer_.data() + taken, arrived_ - taken);
  arrived_ -= taken;
  // One large message does not hold its memory for ever.
  if (arrived_ == 0 && buffer_.size() > kMostKept) std::vector<char>().swap(buffer_);
}

Channel::Got Channel::receive(std::string& message, const GiveUp& give_up,
                              std::vector<Descriptor>* fds) {
  for (;;) {
    std::uint64_t length = 0;
    std::size_t wanted = sizeof(length);
    if (arrived_ >= sizeof(length)) {
      std::memcpy(&length, buffer_.data(), sizeof(length));
      if (length > most_) return Got::kClosed;
      if (arrived_ - sizeof(length) >= length) {
        take(message, length);
        return Got::kAll;
      }
      wanted = sizeof(length) + length;
    }
    // Grows with what arrives, not with what a length claims.
    const std::size_t room =
        std::min(std::max(wanted - arrived_, kRead), std::max(arrived_, kRead));
    if (buffer_.size() < arrived_ + room) buffer_.resize(arrived_ + room);
    iovec part{buffer_.data() + arrived_, buffer_.size() - arrived_};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
    if (got == 0) return Got::kClosed;
    if (got < 0) {
      if (!again(errno)) return Got::kClosed;
      const Got waited = wait(POLLIN, give_up);
      if (waited != Got::kAll) return waited;
      continue;
    }
    arrived_ += static_cast<std::size_t>(got);
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr;
         item = CMSG_NXTHDR(&header, item)) {
      if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t many = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < many; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
        Descriptor owned(fd);
        if (fds != nullptr) fds->push_back(std::move(owned));
      }
    }
  }
}

}  // namespace spillway
