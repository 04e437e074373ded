#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include "spillway/guard/cargo.h"
#include "spillway/guard/channel.h"
#include "spillway/guard/parcel.h"
#include "spillway/guard/shared_memory.h"
#include "spillway/guard/worker_process.h"
#include "spillway/pipeline/function.h"
#include "spillway/pipeline/generator.h"
#include "spillway/pipeline/row_message.h"
#include "spillway/pipeline/row_sink.h"

namespace spillway {

// What a front does in a worker with what it packed before.
struct WorkerFront {
  // Told its kind, before anything else.
  std::function<void(const WorkerKind& kind)> become;
  // Seeds the user's random generators; `draws` says which (GuardRules).
  std::function<void(std::uint8_t draws, std::uint64_t seed)> seed;
  // `output`: what the function was declared to give, or null.
  std::function<Result<FunctionPtr>(const Parcel& sent, StructurePtr output, std::string name)>
      load;
  // A generator; `output` likewise.
  std::function<Result<std::shared_ptr<GeneratorFactory>>(const Parcel& sent, StructurePtr output,
                                                          std::string name)>
      begin;
  // A request of the front's own.
  std::function<Result<Parcel>(const Parcel& request)> serve;
};

// A worker's own side: takes functions, calls them for the rows it is sent, runs a generator, sends
// results back. It holds nothing between calls but what the user's code keeps, and ends when the
// other side does.
class WorkerLoop {
 public:
  WorkerLoop(Channel channel, std::shared_ptr<SharedMemory> memory, Budget& budget,
             WorkerFront front);

  // Returns when nobody is there any more.
  void run();

 private:
  struct Loaded {
    FunctionPtr function;
    SinkingFunction* sinking = nullptr;  // the same one, where it can
    Status failed;
    std::uint8_t draws = 0;
  };
  void load(MessageReader& in);
  Result<FunctionPtr> make(MessageReader& in, std::uint8_t& draws);
  bool call(MessageReader& in);
  Function::Outcome call_loaded(std::uint64_t id, std::uint64_t seed, const Chunk& rows,
                                const CallContext& context, RowStream& stream);
  Function::Outcome call_one_by_one(const Loaded& loaded, std::uint64_t seed, const Chunk& rows,
                                    const CallContext& context, RowStream& stream) const;
  void add_stream(const RowStream& stream, MessageWriter& out);
  Status enter_sandbox_once();
  bool serve(MessageReader& in, bool sets_up);
  bool start_generator(MessageReader& in);
  Status begin(MessageReader& in);
  bool fill_generator(MessageReader& in);

  // Where results go: given with the request, or asked for when it does not hold them.
  struct Room {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  static Room read_room(MessageReader& in);
  // `refused`: there is none. False: nobody is there any more.
  bool enlarge(Room& room, std::size_t needed, Status& refused);
  // False: nobody is there any more. `refused`: rows that cannot travel.
  bool write_rows(const Chunk& rows, RowSender& sender, Room room, MessageWriter& out,
                  Status& refused);
  // With the number of the request that it answers.
  bool send(const MessageWriter& out);

  WorkerKind kind_;
  bool in_sandbox_ = false;
  std::uint64_t number_ = 0;    // of the request under way
  std::deque<Descriptor> fds_;  // that came with requests, not taken yet
  Channel channel_;
  const std::shared_ptr<SharedMemory> memory_;
  const AccountPtr account_;
  const WorkerFront front_;
  std::unordered_map<std::uint64_t, Loaded> functions_;
  RowReceiver receiver_;
  RowSender sender_;
  std::unique_ptr<Generator> generator_;
  StructurePtr generated_;  // what it was declared to give
  RowSender generator_sender_;
};

}  // namespace spillway
