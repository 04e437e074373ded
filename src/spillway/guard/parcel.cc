#include "spillway/guard/parcel.h"

#include <cstring>
#include <utility>

namespace spillway {
namespace {

Status damaged() { return internal_bug("a parcel between processes is damaged"); }

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
  Parcel parcel;
  parcel.text = in.text();
  const auto parts = in.count(2 * sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < parts; ++i) {
    const auto offset = in.get<std::uint64_t>();
    const auto bytes = in.get<std::uint64_t>();
    const std::size_t left = room ? room.bytes().size() : 0;
    if (!in.ok() || bytes > left || SharedMemory::rounded(bytes) > left ||
        (bytes > 0 && offset != room.offset())) {
      return damaged();
    }
    if (bytes == 0) {
      static std::byte none{};
      parcel.parts.push_back(std::make_shared<Buffer>(Buffer::adopt(&none, 0, nullptr)));
    } else {
      parcel.parts.push_back(room.split(SharedMemory::rounded(bytes)).share(bytes));
    }
  }
  if (!in.ok()) return damaged();
  return parcel;
}

Result<Parcel> view_parcel(MessageReader& in, const SharedMemory& memory,
                           const std::shared_ptr<void>& keep) {
  Parcel parcel;
  parcel.text = in.text();
  const auto parts = in.count(2 * sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < parts; ++i) {
    const auto offset = in.get<std::uint64_t>();
    const auto bytes = in.get<std::uint64_t>();
    const std::span<std::byte> at = memory.at(offset, bytes);
    if (!in.ok() || at.size() != bytes) return damaged();
    parcel.parts.push_back(std::make_shared<Buffer>(Buffer::adopt(at.data(), bytes, keep)));
  }
  if (!in.ok()) return damaged();
  return parcel;
}

}  // namespace spillway
