#pragma once

#include <memory>

#include "spillway/graph/op.h"

namespace spillway::graph {

// An image on its way through a RowKernel: rows in from the top, rows of the result out from the
// top. Those read ahead of what was made are kept in scratch, no more than a row needs.
class RowStream {
 public:
  virtual ~RowStream() = default;
  // The next row of the image, without gaps; read during the call only. Never before make() has
  // said that it needs more.
  virtual void take(const std::byte* row) = 0;
  // Makes the next row of the result. False: it needs more rows of the image, or was the last.
  virtual bool make(std::byte* to) = 0;
};

// A kernel on one image [height, width, channels] that can also be given it row by row, while a
// decoder has the row in cache. The result is the same to the last bit. An op says that it streams
// by preparing one of these.
class RowKernel : public Kernel {
 public:
  // Reads each row of the image, or writes each row of the result, from its last pixel to its
  // first. Called once, before anything else.
  virtual void mirror(bool image, bool result) = 0;
  virtual std::size_t stream_scratch() const = 0;
  // Must not outlive the kernel or the scratch.
  virtual std::unique_ptr<RowStream> stream(std::byte* scratch) const = 0;
};

}  // namespace spillway::graph
