#include "numpy_guard.h"

#include <atomic>

#include "python.h"
#include "spillway/base/bytes.h"
#include "spillway/memory/budget.h"
#include "spillway/memory/machine.h"

namespace spillway::python {
namespace {

constexpr std::size_t kLook = 16 * kMiB;  // below this an array is not looked at

std::atomic<bool> guarding{false};
thread_local std::string refusal;
PyDataMemAllocator original;

// May be called without the GIL.
bool fits(std::size_t bytes) {
  if (!guarding.load(std::memory_order_relaxed) || bytes < kLook) return true;
  const auto room = [] {
    const MachineMemory machine = read_machine_memory();
    const std::size_t container = machine.container();
    const std::size_t own = own_anonymous_bytes();
    const std::size_t used = std::max(machine.cgroup_anon.value_or(0), own);
    const std::size_t taken = used + container_reserve(container) / 2;
    const std::size_t left = container > taken ? container - taken : 0;
    return machine.cgroup_limit ? left : std::min(left, machine.available);
  };
  std::size_t left = room();
  if (bytes <= left) return true;
  // What we hold only for speed goes first.
  Budget::process().reclaim(bytes - left);
  left = room();
  if (bytes <= left) return true;
  const MachineMemory machine = read_machine_memory();
  refusal = "spillway kept the process alive: an array of " + format_bytes(bytes) +
            " does not fit; " + machine.bound_by + " allows " + format_bytes(machine.container()) +
            ", " + format_bytes(own_anonymous_bytes()) + " are in use (" +
            format_bytes(Budget::process().used()) + " by pipelines), " + format_bytes(left) +
            " are left";
  return false;
}

void* guarded_malloc(void* ctx, std::size_t size) {
  return fits(size) ? original.malloc(ctx, size) : nullptr;
}
void* guarded_calloc(void* ctx, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || !fits(bytes)) return nullptr;
  return original.calloc(ctx, count, size);
}
void* guarded_realloc(void* ctx, void* old, std::size_t size) {
  return fits(size) ? original.realloc(ctx, old, size) : nullptr;
}

}  // namespace

void guard_numpy(bool on) {
  static const bool kInstalled = [] {
    auto* handler = static_cast<PyDataMem_Handler*>(
        PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler"));
    if (handler == nullptr) {
      PyErr_Clear();
      return false;
    }
    original = handler->allocator;
    handler->allocator.malloc = guarded_malloc;
    handler->allocator.calloc = guarded_calloc;
    handler->allocator.realloc = guarded_realloc;
    return true;
  }();
  guarding = on && kInstalled;
}

std::string last_refusal() { return std::exchange(refusal, std::string()); }

}  // namespace spillway::python
