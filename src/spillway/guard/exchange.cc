#include "spillway/guard/exchange.h"

#include <functional>

#include "spillway/base/bytes.h"
#include "spillway/base/test_point.h"
#include "spillway/guard/worker_verbs.h"

namespace spillway {

bool exchange(WorkerProcess& worker, Watch& watch, const AccountPtr& account,
              const std::string& request, SharedMemory::Piece& room, std::string& answer) {
  if (!worker.ours()) return false;
  const Channel::GiveUp give_up = std::ref(watch);
  Channel& channel = worker.channel();
  SW_TEST_POINT("a request is due");
  if (channel.send(request, give_up) != Channel::Got::kAll) return false;
  for (;;) {
    SW_TEST_POINT("an answer is awaited");
    if (channel.receive(answer, give_up) != Channel::Got::kAll) return false;
    SW_TEST_POINT("an answer is here");
    MessageReader in(answer);
    if (in.get<WorkerVerb>() != WorkerVerb::kNeed) return true;
    const auto needed = in.get<std::uint64_t>();
    room = SharedMemory::Piece();
    room = worker.memory().take(account, needed);
    if (!room) {
      worker.kill("results of " + format_bytes(needed) + ", for which no addresses are left",
                  false);
      return false;
    }
    const auto granted = MessageWriter()
                             .add(WorkerVerb::kRoom)
                             .add(room.offset())
                             .add(static_cast<std::uint64_t>(room.bytes().size()));
    if (channel.send(granted.bytes(), give_up) != Channel::Got::kAll) return false;
  }
}

}  // namespace spillway
