#include "spillway/base/forks.h"

#include <pthread.h>

#include <atomic>

namespace spillway {
namespace {

std::atomic<int> count{0};  // written by the one thread that a forked child has

[[maybe_unused]] const int kRegistered =
    pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

int forks() { return count.load(std::memory_order_relaxed); }

}  // namespace spillway
