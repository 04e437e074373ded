#include "spillway/base/thread.h"

#include <pthread.h>

#include <atomic>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace spillway {
namespace {

std::atomic<StackRoom> stack_room{nullptr};
std::atomic<BeforeThread> before_thread{nullptr};

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

void* run_body(void* body) {
  const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(body));
  (*owned)();
  return nullptr;
}

std::error_code try_to_start(const std::function<void()>& body, std::size_t bytes) {
  pthread_attr_t attributes;
  int failed = pthread_attr_init(&attributes);
  if (failed != 0) return {failed, std::generic_category()};
  failed = pthread_attr_setstacksize(&attributes, bytes);
  if (failed == 0) failed = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (failed == 0) {
    auto owned = std::make_unique<std::function<void()>>(body);
    pthread_t thread{};
    failed = pthread_create(&thread, &attributes, run_body, owned.get());
    if (failed == 0) static_cast<void>(owned.release());  // NOLINT(bugprone-unused-return-value)
  }
  pthread_attr_destroy(&attributes);
  return {failed, std::generic_category()};
}

}  // namespace

void set_stack_room(StackRoom make_room) { stack_room = make_room; }
void set_before_thread(BeforeThread before) { before_thread = before; }

namespace {

// Another thread may lower the limit again between the call that made room and the next try.
constexpr int kMostAsked = 3;

template <class Try>
Status started(const Try& try_it, std::size_t bytes) {
  if (const BeforeThread before = before_thread) before();
  std::error_code failed = try_it();
  const StackRoom make_room = stack_room;
  for (int asked = 0; failed && asked < kMostAsked && make_room != nullptr; ++asked) {
    if (!make_room(bytes)) break;
    failed = try_it();
  }
  if (!failed) return {};
  return out_of_resource("cannot start a thread: ", failed.message(),
                         ". The process has too many threads, or too little address space for the "
                         "stack of another one");
}

}  // namespace

Status start_thread(std::function<void()> body) {
  return started([&] { return try_to_start(body); }, stack_bytes());
}

Status start_thread(std::function<void()> body, std::size_t stack_bytes) {
  return started([&] { return try_to_start(body, stack_bytes); }, stack_bytes);
}

}  // namespace spillway
