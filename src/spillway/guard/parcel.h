#pragma once

#include <string>
#include <vector>

#include "spillway/guard/message.h"
#include "spillway/guard/shared_memory.h"

namespace spillway {

// What a front sends to another process in its own words: a text, and large parts beside it that
// travel through the shared memory.
struct Parcel {
  std::string text;
  std::vector<BufferPtr> parts;
};

// Room that the parts take, each on pages of its own.
std::size_t room_for(const Parcel& parcel);
// Copies the parts to `room`, which begins at `offset`.
void write_parcel(const Parcel& parcel, std::uint64_t offset, std::span<std::byte> room,
                  MessageWriter& out);
// The parts own pages of the room.
Result<Parcel> own_parcel(MessageReader& in, SharedMemory::Piece room);
// The parts are views; `keep` lives as long as any of them.
Result<Parcel> view_parcel(MessageReader& in, const SharedMemory& memory,
                           const std::shared_ptr<void>& keep);

}  // namespace spillway
