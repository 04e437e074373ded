#pragma once

#include <atomic>
#include <cstdint>

#include "python.h"

// Tensors counted by the line of the user's code that made them. With the GIL, but for ~LineUse.
namespace spillway::python {

// What lives of one line. Bytes are no part of it: they are looked up in the tensors when somebody
// asks (measure_lines), so that a tensor costs two additions.
struct LineCount {
  Ref file;  // empty: all lines that found no place of their own
  int line = 0;
  std::int64_t live = 0;
  std::int64_t made = 0;
  std::int64_t told = 0;  // `live` as changed_lines last gave it
  // Of the last measure_lines.
  std::size_t bytes = 0;    // charged to the budget, each buffer once
  std::size_t on_disk = 0;  // spilled to make room
  std::atomic<int> uses{0};
};

// Keeps a line's count where it is. May end on any thread.
class LineUse {
 public:
  explicit LineUse(LineCount& count) : count_(count) {
    count.uses.fetch_add(1, std::memory_order_relaxed);
  }
  ~LineUse() { count_.uses.fetch_sub(1, std::memory_order_release); }
  LineUse(const LineUse&) = delete;
  LineUse& operator=(const LineUse&) = delete;
  LineCount& count() const { return count_; }

 private:
  LineCount& count_;
};

// The count of a line, by file name and number: a cell that is run again counts on. There are
// 2,048 at most, charged to the budget; a line of which nothing lives gives its place to a new one,
// and what finds none counts as one line, "elsewhere". Valid while it is used or anything of it
// lives.
LineCount& line_count(PyObject* file, int line);

// The front is to look at what grew, soon.
void ask_for_a_look();
// Every tensor passes here.
inline void note_made(LineCount& count) {
  ++count.live;
  const auto made = static_cast<std::uint64_t>(++count.made);
  constexpr std::uint64_t kMany = 1024;
  if (made >= kMany && (made & (made - 1)) == 0) ask_for_a_look();
}

// What tensors that come without a line of their own count for, on this thread: the elements a
// pass hands out belong to the line that began it. Null: nothing.
class ElementLine {
 public:
  explicit ElementLine(LineCount* count) : before_(current()) { current() = count; }
  ~ElementLine() { current() = before_; }
  ElementLine(const ElementLine&) = delete;
  ElementLine& operator=(const ElementLine&) = delete;
  static LineCount*& current() {
    thread_local LineCount* now = nullptr;
    return now;
  }

 private:
  LineCount* before_;
};

// A step of the user's program ended: the front looks at what grew. False with an exception, where
// its warning is an error.
bool note_step();

}  // namespace spillway::python
