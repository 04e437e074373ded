#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "spillway/guard/exchange.h"
#include "spillway/guard/worker_process.h"
#include "spillway/guard/worker_verbs.h"

// Workers that say what a test wants them to say, true or not.
namespace spillway::testing {

// What one answers to a request, message by message. `ends`: the worker has exited when the last
// one is read.
struct Said {
  std::vector<std::string> messages;
  bool ends = false;
};
// Where results go.
struct Room {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
// Asks for a larger one; none is left where it is refused.
using AskForRoom = std::function<Room(std::uint64_t needed)>;
// Called with what stands behind the number of a request that wants an answer.
using Script = std::function<Said(WorkerVerb verb, MessageReader request, SharedMemory& memory,
                                  const AskForRoom& ask)>;

inline Room read_room(MessageReader& in) {
  Room room;
  room.offset = in.get<std::uint64_t>();
  room.bytes = in.get<std::uint64_t>();
  return room;
}
// The one that came with a request for rows.
inline Room room_of(WorkerVerb verb, MessageReader request) {
  const int before = verb == WorkerVerb::kCall ? 7 : 3;  // numbers of eight bytes each
  for (int i = 0; i < before; ++i) request.get<std::uint64_t>();
  return read_room(request);
}

// Each is a thread of this process instead of a process. A pipe stands for its life: whoever holds
// the end to read sees it close. So a script must end before anybody waits for a death.
class ScriptedWorkers final : public Spawner {
 public:
  explicit ScriptedWorkers(Script script) : script_(std::move(script)) {}
  ~ScriptedWorkers() override {
    for (std::thread& worker : workers_) worker.join();
  }

  Result<Spawned> spawn(int memory) override {
    SW_ASSIGN(auto ends, Channel::pair());
    std::array<int, 2> life{};
    if (pipe2(life.data(), O_CLOEXEC) != 0) return out_of_resource("no pipe");
    SW_ASSIGN(auto shared, SharedMemory::open(dup(memory)));
    Spawned out;
    out.pid = getpid();
    out.pidfd = Descriptor(life[0]);
    out.channel = std::move(ends.first);
    workers_.emplace_back(
        [this, channel = std::move(ends.second), alive = Descriptor(life[1]),
         shared = std::move(shared)]() mutable { live(channel, alive, *shared); });
    return out;
  }
  End reap(pid_t /*pid*/) override { return {0, 0}; }

 private:
  void live(Channel& channel, Descriptor& alive, SharedMemory& memory) const {
    std::string message;
    while (channel.receive(message, nullptr) == Channel::Got::kAll) {
      MessageReader in(message);
      const auto number = in.get<std::uint64_t>();
      const auto verb = in.get<WorkerVerb>();
      if (verb == WorkerVerb::kBecome || verb == WorkerVerb::kLoad) continue;
      const AskForRoom ask = [&](std::uint64_t needed) {
        const auto need = MessageWriter().add(WorkerVerb::kNeed).add(needed);
        std::string granted;
        if (channel.send(numbered(number, need.bytes()), nullptr) != Channel::Got::kAll ||
            channel.receive(granted, nullptr) != Channel::Got::kAll) {
          return Room();
        }
        MessageReader answer(granted);
        answer.get<std::uint64_t>();
        answer.get<WorkerVerb>();
        return read_room(answer);
      };
      const Said said = script_(verb, in, memory, ask);
      for (const std::string& one : said.messages) {
        if (channel.send(numbered(number, one), nullptr) != Channel::Got::kAll) break;
      }
      if (said.ends) alive = Descriptor();
    }
    alive = Descriptor();
  }

  const Script script_;
  std::vector<std::thread> workers_;
};

// kDone to either kind of request, with `rows` (a message of a RowSender) if there are any.
inline std::string done_with(WorkerVerb verb, std::string_view rows) {
  MessageWriter out;
  out.add(WorkerVerb::kDone);
  if (verb == WorkerVerb::kFillGenerator) {
    out.add(std::uint8_t{0}).add(std::uint8_t{0}).add(std::string_view()).add(std::string_view());
  }
  if (verb == WorkerVerb::kCall) out.add(std::uint8_t{0});  // nothing in a stream
  if (verb == WorkerVerb::kCall || verb == WorkerVerb::kFillGenerator) {
    out.add(static_cast<std::uint8_t>(rows.empty() ? 0 : 1));
    if (!rows.empty()) out.add(rows);
  }
  if (verb == WorkerVerb::kCall) out.add(std::uint8_t{0}).add(std::int64_t{0});
  write_status({}, out);
  return out.bytes();
}

}  // namespace spillway::testing
