#pragma once

#include <functional>
#include <memory>
#include <span>

#include "spillway/memory/buffer.h"

namespace spillway {

// Compresses to gzip members, one after the other, with one charged state for all of them: a file
// may have many members, and any number of files share the writer. One thread.
class GzipWriter {
 public:
  using Write = std::function<Status(std::span<const std::byte>)>;

  static Result<std::unique_ptr<GzipWriter>> make(const AccountPtr& account);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  // Adds `in` to the member under way and hands what comes out to `write`; `last` ends the member.
  // After an error the writer is of no use.
  Status add(std::span<const std::byte> in, bool last, const Write& write);

 private:
  struct State;
  explicit GzipWriter(Buffer out);

  const std::unique_ptr<State> state_;
  Buffer out_;
  Reservation held_;
};

}  // namespace spillway
