#include "spillway/memory/ready_stacks.h"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

// The C library caches 40 MiB of stacks.
constexpr std::size_t kMostCached = 40 * kMiB;
constexpr std::size_t kMostStacks = 4;

// Threads that live now: each is a folder, and a folder links to the one that it is in.
std::size_t threads_now() {
  struct stat folder{};
  return stat("/proc/self/task", &folder) == 0 && folder.st_nlink > 2 ? folder.st_nlink - 2 : 0;
}

std::size_t default_stack() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return kMostCached;
  if (pthread_attr_getstacksize(&attributes, &bytes) != 0) bytes = kMostCached;
  pthread_attr_destroy(&attributes);
  return bytes;
}

void* wait_for_gate(void* gate) {
  pthread_mutex_lock(static_cast<pthread_mutex_t*>(gate));
  pthread_mutex_unlock(static_cast<pthread_mutex_t*>(gate));
  return nullptr;
}

// All of them live at the same time, so that none takes another's stack. A stack goes into the
// cache when its thread was waited for.
void fill_cache(std::size_t count) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  std::array<pthread_t, kMostStacks> threads{};
  std::size_t started = 0;
  pthread_mutex_lock(&gate);
  while (started < count && pthread_create(&threads[started], nullptr, wait_for_gate, &gate) == 0) {
    ++started;
  }
  pthread_mutex_unlock(&gate);
  for (std::size_t i = 0; i < started; ++i) pthread_join(threads[i], nullptr);
}

}  // namespace

void ReadyStacks::keep() {
  const std::size_t threads = threads_now();
  if (threads <= most_threads_) return;
  most_threads_ = threads;
  fill_cache(std::min(kMostStacks, kMostCached / std::max<std::size_t>(default_stack(), 1)));
}

}  // namespace spillway
