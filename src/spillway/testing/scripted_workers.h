#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spillway/base/test_point.h"
#include "spillway/guard/exchange.h"
#include "spillway/guard/worker_process.h"
#include "spillway/guard/worker_verbs.h"

// Workers that say what a test wants them to say, true or not.
namespace spillway::testing {

// What one answers, message by message. `ends`: it exits then.
struct Said {
  std::vector<std::string> messages;
  bool ends = false;
};
// Called with what stands behind the verb of each message that a worker gets, but for those that
// nobody answers.
using Script = std::function<Said(WorkerVerb verb, MessageReader request, SharedMemory& memory)>;

// Where results go.
struct Room {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
inline Room read_room(MessageReader& in) {
  Room room;
  room.offset = in.get<std::uint64_t>();
  room.bytes = in.get<std::uint64_t>();
  return room;
}
// The one that came with a request for rows, or with kRoom.
inline Room room_of(WorkerVerb verb, MessageReader request) {
  const int before = verb == WorkerVerb::kCall            ? 7  // numbers of eight bytes each
                     : verb == WorkerVerb::kFillGenerator ? 3
                                                          : 0;
  for (int i = 0; i < before; ++i) request.get<std::uint64_t>();
  return read_room(request);
}

// They live in the thread that waits for them: at the test point where it does, and no other may be
// armed meanwhile. A pipe stands for the life of each. For one pool, and one thread.
class ScriptedWorkers final : public Spawner {
 public:
  explicit ScriptedWorkers(Script script) : script_(std::move(script)) { arm(); }

  Result<Spawned> spawn(int memory) override {
    if (memory_ == nullptr) {
      SW_ASSIGN(memory_, SharedMemory::open(dup(memory)));
    }
    SW_ASSIGN(auto ends, Channel::pair());
    std::array<int, 2> life{};
    if (pipe2(life.data(), O_CLOEXEC) != 0) return out_of_resource("no pipe");
    workers_.push_back({std::move(ends.second), Descriptor(life[1])});
    Spawned out;
    out.pid = getpid();
    out.pidfd = Descriptor(life[0]);
    out.channel = std::move(ends.first);
    return out;
  }
  End reap(pid_t /*pid*/) override { return {0, 0}; }

 private:
  struct Worker {
    Channel channel;
    Descriptor life;
  };

  void arm() {
    point_.emplace("an answer is awaited", [this] {
      arm();
      std::erase_if(workers_, [this](Worker& worker) { return !answer(worker); });
    });
  }

  // What has come. False: it has exited, or its channel is closed.
  bool answer(Worker& worker) const {
    pollfd one{worker.channel.fd(), POLLIN, 0};
    if (poll(&one, 1, 0) <= 0) return true;
    std::string message;
    for (;;) {
      if (worker.channel.receive(message, nullptr) != Channel::Got::kAll) return false;
      MessageReader in(message);
      const auto number = in.get<std::uint64_t>();
      const auto verb = in.get<WorkerVerb>();
      // A request that wants an answer stands behind those.
      if (verb == WorkerVerb::kBecome || verb == WorkerVerb::kLoad) continue;
      const Said said = script_(verb, in, *memory_);
      for (const std::string& text : said.messages) {
        if (worker.channel.send(numbered(number, text), nullptr) != Channel::Got::kAll) break;
      }
      return !said.ends;
    }
  }

  const Script script_;
  std::shared_ptr<SharedMemory> memory_;  // as they see it
  std::vector<Worker> workers_;
  std::optional<ScopedTestPoint> point_;
};

// kDone to a request, with `rows` (a message of a RowSender) if there are any.
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
