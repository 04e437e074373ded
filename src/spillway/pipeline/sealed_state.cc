#include "spillway/pipeline/sealed_state.h"

#include <array>
#include <cstring>
#include <span>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

constexpr std::string_view kMagic = "SPWSTATE";
// Version 1 had no checksum: the length of its magic, its magic, and the number.
constexpr std::string_view kFirstVersion = "\x06SPW\x02";

constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kChecksumAt = 12;
constexpr std::size_t kPipelineAt = 16;
constexpr std::size_t kLengthAt = 24;

template <class Number>
void put(std::string& out, Number value) {
  std::array<char, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

template <class Number>
Number get(std::string_view bytes, std::size_t at) {
  Number value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::uint32_t checksum_of(std::uint32_t version, std::string_view covered) {
  const auto begun = crc32c(std::as_bytes(std::span(&version, 1)));
  return crc32c(std::as_bytes(std::span(covered.data(), covered.size())), begun);
}

template <class... Parts>
Status damaged(const Parts&... parts) {
  Status status = bad_data(Code::kDataLoss, "restore: ", parts...,
                           "; nothing was restored, use an older state or begin a new pass");
  status.edit().type = "DataError";
  return status;
}

}  // namespace

std::string seal_state(std::uint64_t pipeline, std::string_view content) {
  std::string covered;
  covered.reserve(kStateHeaderBytes + content.size());
  put(covered, pipeline);
  put(covered, static_cast<std::uint64_t>(content.size()));
  covered += content;
  std::string out;
  out.reserve(kPipelineAt + covered.size());
  out += kMagic;
  put(out, kStateVersion);
  put(out, checksum_of(kStateVersion, covered));
  out += covered;
  return out;
}

Result<OpenedState> open_state(std::string_view state) {
  if (state.starts_with(kFirstVersion)) {
    return Status::error(ErrorKind::kUser, Code::kUnimplemented,
                         "restore: the state has version 1 of the format, which has no checksum; "
                         "expected version ",
                         kStateVersion, "; save it again with this Spillway");
  }
  if (!state.starts_with(kMagic)) {
    return damaged("expected the state of an iterator, which begins with ", kMagic,
                   ", found something else in ", state.size(), " bytes");
  }
  if (state.size() < kStateHeaderBytes) {
    return damaged("the state is cut off: expected a header of ", kStateHeaderBytes,
                   " bytes, found ", state.size());
  }
  const auto version = get<std::uint32_t>(state, kVersionAt);
  const auto length = get<std::uint64_t>(state, kLengthAt);
  const std::size_t found = state.size() - kStateHeaderBytes;
  if (checksum_of(version, state.substr(kPipelineAt)) != get<std::uint32_t>(state, kChecksumAt)) {
    if (length > found) {
      return damaged("the state is cut off: expected ", length, " bytes behind its header, found ",
                     found);
    }
    if (length < found) {
      return damaged("the state has ", found - length, " bytes too many: expected ", length,
                     " behind its header, found ", found);
    }
    return damaged("the state is damaged: its ", state.size(),
                   " bytes do not have the checksum that was saved with them");
  }
  if (version != kStateVersion) {
    return Status::error(ErrorKind::kUser, Code::kUnimplemented, "restore: the state has version ",
                         version, " of the format; expected ", kStateVersion,
                         ": restore it with the Spillway that saved it");
  }
  if (length != found) {
    return damaged("the state must have as many bytes as its header says: expected ", length,
                   ", found ", found);
  }
  return OpenedState{get<std::uint64_t>(state, kPipelineAt), state.substr(kStateHeaderBytes)};
}

}  // namespace spillway
