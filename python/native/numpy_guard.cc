#include "numpy_guard.h"

#include "admission.h"
#include "python.h"

namespace spillway::python {
namespace {

PyDataMemAllocator original;
Admission* admission = nullptr;  // set before the allocator's functions are

// An array so small may use part of what is kept free: it may belong to telling an error.
constexpr std::size_t kSmallArray = 256 * 1024;

void uncount(std::int64_t bytes) { Guardian::process().allocated_arrays(-bytes); }

void* counted(void* given) {
  if (given != nullptr) {
    Guardian::process().allocated_arrays(static_cast<std::int64_t>(malloc_usable_size(given)));
  }
  return given;
}

Guardian::Request array_of(std::size_t bytes) {
  using enum Guardian::Request::Size;
  return {bytes, "an array", bytes <= kSmallArray ? kSmall : kLarge};
}

void* guarded_malloc(void* ctx, std::size_t size) {
  return counted(admission->ask(array_of(size), [&] { return original.malloc(ctx, size); }));
}
void* guarded_calloc(void* ctx, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  return counted(
      admission->ask(array_of(bytes), [&] { return original.calloc(ctx, count, size); }));
}
void* guarded_realloc(void* ctx, void* old, std::size_t size) {
  const std::size_t before = old == nullptr ? 0 : malloc_usable_size(old);
  const auto again = [&] { return original.realloc(ctx, old, size); };
  void* given = size > before ? admission->ask(array_of(size - before), again) : again();
  if (given == nullptr) return nullptr;
  uncount(static_cast<std::int64_t>(before));
  return counted(given);
}
void guarded_free(void* ctx, void* old, std::size_t size) {
  if (old != nullptr) uncount(static_cast<std::int64_t>(malloc_usable_size(old)));
  original.free(ctx, old, size);
}

}  // namespace

void guard_numpy(bool on) {
  // With the GIL. Where it was never wanted nothing is wrapped, and nothing is paid.
  static bool ever = false;
  ever = ever || on;
  if (!ever) return;
  static const bool kInstalled = [] {
    auto* handler = static_cast<PyDataMem_Handler*>(
        PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler"));
    if (handler == nullptr) {
      PyErr_Clear();
      return false;
    }
    admission = new Admission;  // arrays may outlive static destruction
    original = handler->allocator;
    handler->allocator.malloc = guarded_malloc;
    handler->allocator.calloc = guarded_calloc;
    handler->allocator.realloc = guarded_realloc;
    handler->allocator.free = guarded_free;
    return true;
  }();
  if (kInstalled) admission->turn(on);
}

}  // namespace spillway::python
