#include "spillway/base/thread.h"

#include <pthread.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

namespace spillway {
namespace {

std::atomic<StackRoom> stack_room{nullptr};

std::size_t stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  std::size_t guard = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 8 << 20;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return bytes + guard;
}

std::error_code try_to_start(const std::function<void()>& body) {
  try {
    std::thread(body).detach();
    return {};
  } catch (const std::system_error& error) {
    return error.code();
  }
}

}  // namespace

void set_stack_room(StackRoom make_room) { stack_room = make_room; }

Status start_thread(std::function<void()> body) {
  std::error_code failed = try_to_start(body);
  const StackRoom make_room = stack_room;
  if (failed && make_room != nullptr && make_room(stack_bytes())) failed = try_to_start(body);
  if (!failed) return {};
  return out_of_resource("cannot start a thread: ", failed.message(),
                         ". The process has too many threads, or too little address space for the "
                         "stack of another one");
}

}  // namespace spillway
