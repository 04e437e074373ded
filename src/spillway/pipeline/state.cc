#include "spillway/pipeline/state.h"

#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/tensor/chunk.h"

namespace spillway {

namespace {

Status truncated() {
  return Status::error(ErrorKind::kData, Code::kDataLoss,
                       "checkpoint: ends before the state it describes");
}

}  // namespace

// Zigzag, seven bits a byte.
void StateWriter::put(std::int64_t value) {
  auto bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  do {
    auto byte = static_cast<unsigned char>(bits & 0x7f);
    bits >>= 7;
    if (bits != 0) byte |= 0x80;
    bytes_.push_back(static_cast<char>(byte));
  } while (bits != 0);
}

void StateWriter::put(std::string_view bytes) {
  put(static_cast<std::int64_t>(bytes.size()));
  bytes_.append(bytes);
}

void StateWriter::put(const StatePtr& state) {
  put(static_cast<std::int64_t>(state->size()));
  size_before_ += bytes_.size() + state->size();
  before_.push_back({std::exchange(bytes_, std::string()), state});
}

StatePtr StateWriter::share() && {
  auto out = std::make_shared<StateBytes>();
  out->pieces_ = std::move(before_);
  out->size_ = size_before_ + bytes_.size();
  out->pieces_.push_back({std::move(bytes_), nullptr});
  return out;
}

const std::string& StateWriter::bytes() const {
  if (before_.empty()) return bytes_;
  StateWriter copy = *this;
  return flat_ = std::move(copy).share()->flat();
}

std::string StateBytes::flat() const {
  struct Frame {
    const StateBytes* state;
    std::size_t next = 0;
  };
  std::string out;
  out.reserve(size_);
  std::vector<Frame> stack{{this}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == frame.state->pieces_.size()) {
      stack.pop_back();
      continue;
    }
    const Piece& piece = frame.state->pieces_[frame.next++];
    out += piece.own;
    if (piece.nested != nullptr) stack.push_back({piece.nested.get()});
  }
  return out;
}

// One after the other: states may be nested as deep as a pipeline is long.
StateBytes::~StateBytes() {
  std::vector<StatePtr> gone;
  const auto take = [&](std::vector<Piece>& pieces) {
    for (Piece& piece : pieces) {
      if (piece.nested != nullptr) gone.push_back(std::move(piece.nested));
    }
  };
  take(pieces_);
  while (!gone.empty()) {
    const StatePtr state = std::move(gone.back());
    gone.pop_back();
    if (state.use_count() == 1) take(const_cast<StateBytes&>(*state).pieces_);
  }
}

void StateWriter::put_values(std::span<const Tensor> values) {
  std::vector<std::byte> bytes;
  if (Status status = append_row_bytes(values, bytes); !status.ok()) status_ = std::move(status);
  put(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// One byte: enough to notice a foreign section, small enough to be in every one.
void StateWriter::begin(std::string_view op) {
  Fnv64 hash;
  hash.add(op);
  bytes_.push_back(static_cast<char>(hash.value() & 0xff));
}

Status StateReader::begin(std::string_view op) {
  if (bytes_.empty()) return truncated();
  Fnv64 hash;
  hash.add(op);
  if (bytes_.front() != static_cast<char>(hash.value() & 0xff)) {
    return invalid_argument("checkpoint: expected the state of ", op, ", found another operator's");
  }
  bytes_.remove_prefix(1);
  return {};
}

Status StateReader::get(std::int64_t& value) {
  std::uint64_t bits = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes_.empty()) return truncated();
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    bits |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      value = static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
      return {};
    }
  }
  return truncated();
}

Status StateReader::get_count(std::int64_t& value, std::int64_t most) {
  std::int64_t read = 0;
  SW_RETURN_IF_ERROR(get(read));
  if (read < 0 || read > most) {
    return invalid_argument("checkpoint: a position must be from 0 to ", most, ": ", read);
  }
  value = read;
  return {};
}

Status StateReader::get(std::string& value) {
  std::string_view bytes;
  SW_RETURN_IF_ERROR(get(bytes));
  value.assign(bytes);
  return {};
}

Status StateReader::get(std::string_view& value) {
  std::int64_t size = 0;
  SW_RETURN_IF_ERROR(get(size));
  if (size < 0 || static_cast<std::size_t>(size) > bytes_.size()) return truncated();
  value = bytes_.substr(0, static_cast<std::size_t>(size));
  bytes_.remove_prefix(static_cast<std::size_t>(size));
  return {};
}

Result<std::vector<Tensor>> StateReader::get_values(const AccountPtr& account) {
  std::string bytes;
  SW_RETURN_IF_ERROR(get(bytes));
  return parse_row_bytes(account, std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace spillway
