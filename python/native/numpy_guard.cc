#include "numpy_guard.h"

#include "admission.h"
#include "python.h"

namespace spillway::python {
namespace {

PyDataMemAllocator original;
Admission* admission = nullptr;  // set before the allocator's functions are

// An array so small may use part of what is kept free: it may belong to telling an error.
constexpr std::size_t kSmallArray = 256 * 1024;

// Bytes that the guardian has counted already and no array holds: what small arrays come from and
// go back to, since telling the guardian costs more than to allocate one. Changed with the GIL
// held, which NumPy's own cache of small arrays asks for, too.
std::int64_t credit = 0;
constexpr std::int64_t kCredit = 128 * 1024;

// Tells the guardian, so that `credit` is kCredit again.
void settle() {
  Guardian::process().allocated_arrays(kCredit - credit);
  credit = kCredit;
}

void* taken(void* given) {
  credit -= static_cast<std::int64_t>(malloc_usable_size(given));
  return given;
}
void given_back(std::size_t bytes) {
  credit += static_cast<std::int64_t>(bytes);
  if (credit > 2 * kCredit) settle();
}

// For what the credit does not cover, or malloc() refused at first.
template <typename Allocate>
[[gnu::noinline]] void* ask(std::size_t bytes, const Allocate& allocate) {
  using enum Guardian::Request::Size;
  const auto size = bytes <= kSmallArray ? kSmall : kLarge;
  void* given = admission->ask({bytes, "an array", size}, allocate);
  if (given == nullptr) return nullptr;
  taken(given);
  settle();
  return given;
}

template <typename Allocate>
void* guarded(std::size_t bytes, const Allocate& allocate) {
  if (static_cast<std::int64_t>(bytes) <= credit && bytes <= kCredit) {
    if (void* given = allocate()) return taken(given);
  }
  return ask(bytes, allocate);
}

void* guarded_malloc(void* ctx, std::size_t size) {
  return guarded(size, [&] { return original.malloc(ctx, size); });
}
void* guarded_calloc(void* ctx, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  return guarded(bytes, [&] { return original.calloc(ctx, count, size); });
}
void* guarded_realloc(void* ctx, void* old, std::size_t size) {
  const std::size_t before = old == nullptr ? 0 : malloc_usable_size(old);
  const auto again = [&] { return original.realloc(ctx, old, size); };
  void* given = size > before ? guarded(size - before, again) : again();
  if (given == nullptr) return nullptr;
  if (size <= before) taken(given);
  given_back(before);
  return given;
}
void guarded_free(void* ctx, void* old, std::size_t size) {
  const std::size_t bytes = old == nullptr ? 0 : malloc_usable_size(old);
  original.free(ctx, old, size);
  given_back(bytes);
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
