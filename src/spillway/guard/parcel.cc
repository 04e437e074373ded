#include "spillway/guard/parcel.h"

#include <cstring>
#include <utility>

namespace spillway {
namespace {

// `place(offset, bytes)` gives a part; null: it cannot lie there.
template <class Place>
Result<Parcel> read_parts(MessageReader& in, const Place& place) {
  Parcel parcel;
  parcel.text = in.text();
  const auto parts = in.count(2 * sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < parts; ++i) {
    const auto offset = in.get<std::uint64_t>();
    const auto bytes = in.get<std::uint64_t>();
    BufferPtr part = in.ok() ? place(offset, bytes) : nullptr;
    if (part == nullptr) return internal_bug("a parcel between processes is damaged");
    parcel.parts.push_back(std::move(part));
  }
  if (!in.ok()) return internal_bug("a parcel between processes is cut off");
  return parcel;
}

}  // namespace

std::size_t room_for(const Parcel& parcel) {
  std::size_t bytes = 0;
  for (const BufferPtr& part : parcel.parts) bytes += SharedMemory::rounded(part->size());
  return bytes;
}

void write_parcel(const Parcel& parcel, std::uint64_t offset, std::span<std::byte> room,
                  MessageWriter& out) {
  out.add(std::string_view(parcel.text)).add(static_cast<std::uint64_t>(parcel.parts.size()));
  std::size_t at = 0;
  for (const BufferPtr& part : parcel.parts) {
    out.add(offset + at).add(static_cast<std::uint64_t>(part->size()));
    if (part->size() > 0) std::memcpy(room.data() + at, part->data(), part->size());
    at += SharedMemory::rounded(part->size());
  }
}

Result<Parcel> own_parcel(MessageReader& in, SharedMemory::Piece room) {
  return read_parts(in, [&room](std::uint64_t offset, std::uint64_t bytes) -> BufferPtr {
    static std::byte none{};
    if (bytes == 0) return std::make_shared<Buffer>(Buffer::adopt(&none, 0, nullptr));
    const std::size_t left = room ? room.bytes().size() : 0;
    if (bytes > left || offset != room.offset()) return nullptr;
    return room.split(SharedMemory::rounded(bytes)).share(bytes);
  });
}

Result<Parcel> view_parcel(MessageReader& in, const SharedMemory& memory,
                           const std::shared_ptr<void>& keep) {
  return read_parts(in, [&](std::uint64_t offset, std::uint64_t bytes) -> BufferPtr {
    const std::span<std::byte> at = memory.at(offset, bytes);
    if (at.size() != bytes) return nullptr;
    return std::make_shared<Buffer>(Buffer::adopt(at.data(), bytes, keep));
  });
}

}  // namespace spillway
