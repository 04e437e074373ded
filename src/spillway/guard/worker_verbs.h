#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "spillway/base/status.h"
#include "spillway/guard/message.h"
#include "spillway/guard/worker_process.h"

namespace spillway {

// What a process and its workers say to each other. kBecome tells a new one its kind; kLoad gives a
// function for later; kCall calls one for some rows; kSetUp hands the front what it is to call, and
// kParcel a request of its own;
// a generator is started, asked for rows and closed. A worker answers all but kBecome and kLoad
// with kDone, or first with kNeed where the room it was given does not hold the results; then it
// gets kRoom.
enum class WorkerVerb : std::uint8_t {
  kLoad = 1,
  kCall,
  kParcel,
  kStartGenerator,
  kFillGenerator,
  kCloseGenerator,
  kRoom,
  kDone,
  kNeed,
  kBecome,
  kSetUp,
};

// The facts of an error travel, and its cause as far as the front can carry it.
struct CauseCarrier {
  std::string (*write)(const std::shared_ptr<void>& cause) = nullptr;
  std::shared_ptr<void> (*read)(std::string_view bytes) = nullptr;
  // Of what a sandboxed worker wrote, in another form: whoever speaks for it may mean ill.
  std::shared_ptr<void> (*read_untrusted)(std::string_view bytes) = nullptr;
};
// Set once, before the first worker.
CauseCarrier& cause_carrier();

void write_kind(const WorkerKind& kind, MessageWriter& out);
WorkerKind read_kind(MessageReader& in);

void write_status(const Status& status, MessageWriter& out);
Status read_status(MessageReader& in, bool trusted = true);

}  // namespace spillway
