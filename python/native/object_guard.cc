#include "object_guard.h"

#include <utility>

#include "admission.h"
#include "python.h"

namespace spillway::python {
namespace {

PyMemAllocatorEx blocks;         // what is too large for an arena
PyObjectArenaAllocator arenas;   // what small objects live in
Admission* admission = nullptr;  // set before the allocators' functions are

constexpr std::size_t kLeastLooked = 2048;  // a smaller block is not looked at by itself
// ... but so much of them is, frees not counted: a list of short texts is made of nothing else.
constexpr std::size_t kLookedTogether = 256 * 1024;
thread_local std::size_t not_looked_at = 0;
// What is larger may not touch what is kept free. Anything smaller may use part of it: the code
// that tells an error, and cleans up after it, needs objects.
constexpr std::size_t kLargeObject = 4 * 1024 * 1024;

// Where no arena is to be had Python asks malloc() for each small object instead, so a refused
// arena has to be a refused object.
thread_local bool arena_refused = false;

Guardian::Request object_of(std::size_t bytes) {
  using enum Guardian::Request::Size;
  return bytes < kLargeObject ? Guardian::Request{bytes, "an object", kSmall, true}
                              : Guardian::Request{bytes, "an object"};
}

// Python's arenas and small blocks: no single object is so large, and a refusal must not say so.
Guardian::Request small_objects(std::size_t bytes) {
  return {bytes, "a block of small objects", Guardian::Request::Size::kSmall, true};
}

// Whether a block so small may be made.
bool may_be_small(std::size_t size) {
  not_looked_at += size;
  if (not_looked_at < kLookedTogether) return true;
  static char granted = 0;
  if (admission->ask(small_objects(kLookedTogether), [] { return &granted; }) == nullptr)
    return false;
  not_looked_at = 0;
  return true;
}

void* guarded_malloc(void* /*ctx*/, std::size_t size) {
  if (std::exchange(arena_refused, false)) return nullptr;
  const auto make = [&] { return blocks.malloc(blocks.ctx, size); };
  if (size < kLeastLooked) return may_be_small(size) ? make() : nullptr;
  return admission->given(admission->ask(object_of(size), make));
}
void* guarded_calloc(void* /*ctx*/, std::size_t count, std::size_t size) {
  if (std::exchange(arena_refused, false)) return nullptr;
  const auto make = [&] { return blocks.calloc(blocks.ctx, count, size); };
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  if (bytes < kLeastLooked) return may_be_small(bytes) ? make() : nullptr;
  return admission->given(admission->ask(object_of(bytes), make));
}
// Counted are blocks of a usable size from kLeastLooked on, whichever way they came to it.
std::int64_t counted_size(void* block) {
  const std::size_t size = block == nullptr ? 0 : malloc_usable_size(block);
  return size < kLeastLooked ? 0 : static_cast<std::int64_t>(size);
}
void* guarded_realloc(void* /*ctx*/, void* old, std::size_t size) {
  const auto again = [&] { return blocks.realloc(blocks.ctx, old, size); };
  if (size < kLeastLooked && old == nullptr) return may_be_small(size) ? again() : nullptr;
  const std::int64_t before = counted_size(old);
  const auto more = static_cast<std::int64_t>(size) - before;
  void* given = size >= kLeastLooked && more > 0
                    ? admission->ask(object_of(static_cast<std::size_t>(more)), again)
                    : again();
  if (given != nullptr) admission->count(counted_size(given) - before);
  return given;
}
void guarded_free(void* /*ctx*/, void* old) {
  if (const std::int64_t size = counted_size(old); size != 0) admission->count(-size);
  blocks.free(blocks.ctx, old);
}

void* guarded_arena(void* /*ctx*/, std::size_t size) {
  void* given = admission->ask(small_objects(size), [&] { return arenas.alloc(arenas.ctx, size); });
  arena_refused = given == nullptr;
  if (given != nullptr) admission->count(static_cast<std::int64_t>(size));
  return given;
}
void guarded_arena_free(void* /*ctx*/, void* arena, std::size_t size) {
  admission->count(-static_cast<std::int64_t>(size));
  arenas.free(arenas.ctx, arena, size);
}

}  // namespace

void guard_objects(bool on) {
  // With the GIL. Where it was never wanted nothing is wrapped, and nothing is paid.
  static bool ever = false;
  ever = ever || on;
  if (!ever) return;
  static const bool kInstalled = [] {
    admission = new Admission;  // objects outlive static destruction
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &blocks);
    PyObject_GetArenaAllocator(&arenas);
    PyMemAllocatorEx guarded{nullptr, guarded_malloc, guarded_calloc, guarded_realloc,
                             guarded_free};
    PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &guarded);
    PyObjectArenaAllocator guarded_arenas{nullptr, guarded_arena, guarded_arena_free};
    PyObject_SetArenaAllocator(&guarded_arenas);
    return true;
  }();
  if (kInstalled) admission->turn(on);
}

}  // namespace spillway::python
