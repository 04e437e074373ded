#pragma once

#include <png.h>

#include "spillway/io/images/escape.h"
#include "spillway/io/images/workspace.h"

namespace spillway {

// libpng's surroundings: errors leave by the escape, warnings are not shown, and every byte it
// allocates is charged. Outlives the structs made from it.
class PngLibrary {
 public:
  explicit PngLibrary(Workspace& workspace) : workspace_(workspace) {}
  PngLibrary(const PngLibrary&) = delete;
  PngLibrary& operator=(const PngLibrary&) = delete;

  // Null: there was no room.
  png_structp make_reader() { return make(png_create_read_struct_2); }
  png_structp make_writer() { return make(png_create_write_struct_2); }

  Escape& escape() { return escape_; }
  const char* message() const { return escape_.message.data(); }
  // Not ok: memory was refused, which is why libpng gave up.
  const Status& refused() const { return refused_; }

 private:
  png_structp make(decltype(&png_create_read_struct_2) create);
  [[noreturn]] static void give_up(png_structp png, png_const_charp why);
  static png_voidp allocate(png_structp png, png_alloc_size_t bytes);
  static void free(png_structp png, png_voidp block);
  bool hold(std::size_t bytes);

  Workspace& workspace_;
  Escape escape_;
  std::size_t held_ = 0;
  std::size_t reserved_ = 0;
  Status refused_;
};

}  // namespace spillway
