#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "spillway/guard/message.h"
#include "spillway/guard/shared_memory.h"
#include "spillway/pipeline/row_sink.h"
#include "spillway/tensor/chunk.h"

namespace spillway {

// A structure by itself; null travels too.
void write_structure(const StructurePtr& structure, MessageWriter& out);
Result<StructurePtr> read_structure(MessageReader& in);

// Rows on their way to another process: facts in the message, bytes in the shared memory. Tensors
// of 64 KiB and more have pages to themselves, so that each can be owned alone; smaller ones lie
// side by side before them. A structure is told once, then again when it changes.
class RowStream;
class RowSender {
 public:
  // Bytes that the values of `rows` take there.
  static std::size_t room_for(const Chunk& rows);
  // Copies the values to `room`, which begins at `offset`. kUser error: a value that cannot
  // travel (a dataset). Origins stay behind.
  Status add(const Chunk& rows, std::uint64_t offset, std::span<std::byte> room,
             MessageWriter& out);
  // Says where the rows of a stream lie; at least one.
  void add(const RowStream& rows, MessageWriter& out);

 private:
  void tell(const StructurePtr& structure, MessageWriter& out);
  StructurePtr told_;
};

// Results on their way as they are made, each copied at once into a room of given size; so the
// arrays they came from can go while they are still in cache. Small tensors lie before the large
// ones, where `rows` rows like the first with a large one have room.
class RowStream final : public RowSink {
 public:
  RowStream(std::uint64_t offset, std::span<std::byte> room, std::int64_t rows)
      : offset_(offset), room_(room), most_(rows) {}
  bool add(const StructurePtr& structure, std::span<const Tensor> values) override;
  std::int64_t rows() const { return rows_; }
  // Of the room, that they take.
  std::size_t bytes() const { return small_used_ + large_end_ - small_; }

 private:
  friend class RowSender;
  const std::uint64_t offset_;
  const std::span<std::byte> room_;
  const std::int64_t most_;
  StructurePtr structure_;
  std::int64_t rows_ = 0;
  std::size_t small_ = 0;  // pages set aside for small ones
  std::size_t small_used_ = 0;
  std::size_t large_end_ = 0;  // 0: no large one yet, and all of the room is for small ones
  MessageWriter places_;
};

// The other side. What it is told is not believed: bytes outside the room, dtypes and shapes that
// are not those of the structure are a kBug error. How many rows there may be, and which structure
// was agreed on, its user knows: whoever reads what a worker sent calls check_sent().
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
  // Bytes of the room that the last message used.
  std::size_t used() const { return used_; }

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
  using Tensors = std::function<Result<Tensor>()>;

  static Result<std::vector<Column>> read_columns(MessageReader& in, std::int64_t rows,
                                                  std::uint64_t columns, const Tensors& next);
  static Result<std::vector<Column>> read_by_row(MessageReader& in, std::int64_t rows,
                                                 std::uint64_t columns, const Tensors& next);
  Status read_news(MessageReader& in);

  StructurePtr told_;
  std::size_t used_ = 0;
};

// kBug unless rows that were received are at most as many as were asked for, and of a structure
// that `declared` accepts (null: of any).
Status check_sent(const Chunk& rows, std::int64_t most, const StructurePtr& declared);

}  // namespace spillway
