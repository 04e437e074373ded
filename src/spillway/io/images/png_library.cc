#include "spillway/io/images/png_library.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace spillway {
namespace {

constexpr std::size_t kStep = std::size_t{64} << 10U;       // charged at once
constexpr std::size_t kBefore = alignof(std::max_align_t);  // a block's size is kept before it

}  // namespace

png_structp PngLibrary::make(decltype(&png_create_read_struct_2) create) {
  // What fails before there is a struct comes back as null.
  return create(
      PNG_LIBPNG_VER_STRING, this, give_up, [](png_structp, png_const_charp) {}, this, allocate,
      free);
}

void PngLibrary::give_up(png_structp png, png_const_charp why) {
  auto& self = *static_cast<PngLibrary*>(png_get_error_ptr(png));
  std::strncpy(self.escape_.message.data(), why, Escape::kMessage - 1);
  self.escape_.leave();
}

bool PngLibrary::hold(std::size_t bytes) {
  if (held_ + bytes > reserved_) {
    const std::size_t more = (held_ + bytes - reserved_ + kStep - 1) / kStep * kStep;
    refused_ = workspace_.reserve(more);
    if (!refused_.ok()) return false;
    reserved_ += more;
  }
  held_ += bytes;
  return true;
}

png_voidp PngLibrary::allocate(png_structp png, png_alloc_size_t bytes) {
  auto& self = *static_cast<PngLibrary*>(png_get_mem_ptr(png));
  if (bytes > SIZE_MAX - kBefore || !self.hold(bytes)) return nullptr;
  auto* const block = static_cast<std::byte*>(std::malloc(bytes + kBefore));
  if (block == nullptr) return nullptr;
  std::memcpy(block, &bytes, sizeof(bytes));
  return block + kBefore;
}

void PngLibrary::free(png_structp png, png_voidp pointer) {
  if (pointer == nullptr) return;
  auto* const block = static_cast<std::byte*>(pointer) - kBefore;
  png_alloc_size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof(bytes));
  static_cast<PngLibrary*>(png_get_mem_ptr(png))->held_ -= bytes;
  std::free(block);
}

}  // namespace spillway
