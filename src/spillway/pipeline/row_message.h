#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "spillway/guard/message.h"
#include "spillway/guard/shared_memory.h"
#include "spillway/tensor/chunk.h"

namespace spillway {

// A structure by itself; null travels too.
void write_structure(const StructurePtr& structure, MessageWriter& out);
Result<StructurePtr> read_structure(MessageReader& in);

// Rows on their way to another process: facts in the message, bytes in the shared memory. Tensors
// of 64 KiB and more have pages to themselves, so that each can be owned alone; smaller ones lie
// side by side before them. A structure is told once, then again when it changes.
class RowSender {
 public:
  // Bytes that the values of `rows` take there.
  static std::size_t room_for(const Chunk& rows);
  // Copies the values to `room`, which begins at `offset`. kUser error: a value that cannot
  // travel (a dataset). Origins stay behind.
  Status add(const Chunk& rows, std::uint64_t offset, std::span<std::byte> room,
             MessageWriter& out);

 private:
  StructurePtr told_;
};

// The other side. What it is told is not believed: bytes outside the room, dtypes and shapes that
// do not fit are a kBug error.
class RowReceiver {
 public:
  // Views of the shared memory; `keep` lives as long as any of them. Strings are copied, which
  // `account` pays for.
  Result<Chunk> view(MessageReader& in, const AccountPtr& account, const SharedMemory& memory,
                     const std::shared_ptr<void>& keep);
  // Takes the room apart: the values own its pages.
  Result<Chunk> own(MessageReader& in, const AccountPtr& account, SharedMemory::Piece room);
  // The same, copied before it is looked at: for a sender that may still write to the room.
  Result<Chunk> copy(MessageReader& in, const AccountPtr& account, SharedMemory::Piece room);

 private:
  // Where bytes lie, as a buffer and the place in it.
  struct Place {
    BufferPtr buffer;
    std::size_t at = 0;
    std::size_t bytes = 0;
  };
  using Find = std::function<Result<Place>(std::uint64_t offset, std::uint64_t bytes)>;
  Result<Chunk> read(MessageReader& in, const AccountPtr& account, const Find& find);
  Result<Tensor> read_tensor(MessageReader& in, const AccountPtr& account, const Find& find);

  Status read_news(MessageReader& in);

  StructurePtr told_;
};

}  // namespace spillway
