#include "spillway/guard/exchange.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>

#include "spillway/base/test_point.h"
#include "spillway/guard/worker_verbs.h"

namespace spillway {
namespace {

constexpr int kMostAsked = 4;  // times for room, by one call: our own workers do it once

}  // namespace

std::string numbered(std::uint64_t number, std::string_view message) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes.append(message);
}

bool exchange(WorkerProcess& worker, Watch& watch, const AccountPtr& account,
              const std::string& request, SharedMemory::Piece& room, std::string& answer,
              Status& refused, std::span<const int> fds) {
  if (!worker.ours()) return false;
  const Channel::GiveUp give_up = std::ref(watch);
  Channel& channel = worker.channel();
  const std::uint64_t number = worker.next_request();
  int asked = 0;
  SW_TEST_POINT("a request is due");
  if (channel.send(numbered(number, request), give_up, fds) != Channel::Got::kAll) return false;
  for (;;) {
    SW_TEST_POINT("an answer is awaited");
    if (channel.receive(answer, give_up) != Channel::Got::kAll) return false;
    SW_TEST_POINT("an answer is here");
    MessageReader in(answer);
    const bool its = in.get<std::uint64_t>() == number;
    const auto verb = in.get<WorkerVerb>();
    const bool asks = verb == WorkerVerb::kNeed && ++asked <= kMostAsked;
    if (!its || (!asks && verb != WorkerVerb::kDone)) {
      worker.kill_for_junk();
      return false;
    }
    if (verb == WorkerVerb::kDone) {
      answer.erase(0, sizeof(number));
      return true;
    }
    // A damaged worker may ask for more than can be rounded up to pages.
    const auto needed = std::min<std::uint64_t>(in.get<std::uint64_t>(), INT64_MAX);
    room = SharedMemory::Piece();
    auto reserved = worker.memory().reserve(account, needed, [&watch] { return watch.unwanted(); });
    if (watch.stopped()) return false;
    watch.go_on();
    if (reserved.ok()) {
      refused = Status();
      room = std::move(reserved).value();
    } else {
      refused = std::move(reserved).status();
    }
    const auto granted = MessageWriter()
                             .add(WorkerVerb::kRoom)
                             .add(room ? room.offset() : 0)
                             .add(static_cast<std::uint64_t>(room ? room.bytes().size() : 0));
    if (channel.send(numbered(number, granted.bytes()), give_up) != Channel::Got::kAll)
      return false;
  }
}

}  // namespace spillway
