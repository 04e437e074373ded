#include "spillway/pipeline/row_file.h"

#include <algorithm>
#include <cstring>

#include "spillway/base/bytes.h"
#include "spillway/tensor/chunk.h"

namespace spillway {
namespace {

constexpr std::uint64_t kLarge = 256 * kKiB;  // a row that is larger than the stream's buffer

}  // namespace

std::uint32_t row_checksum(std::uint64_t length, std::span<const std::byte> bytes) {
  return crc32c(bytes, crc32c(std::as_bytes(std::span(&length, 1))));
}

RowFileReader::RowFileReader(std::unique_ptr<ByteStream> bytes, const Kind& kind,
                             StructurePtr structure, AccountPtr account)
    : bytes_(std::move(bytes)),
      kind_(kind),
      structure_(std::move(structure)),
      account_(std::move(account)) {}

Status RowFileReader::corrupt(std::uint64_t offset, std::string_view what) const {
  return corrupt_file(bytes_->file().path(), offset, kind_.what, " ", bytes_->file().path(), ": ",
                      what, " at offset ", offset, kind_.advice);
}

Status RowFileReader::open() {
  SW_ASSIGN(const auto magic, bytes_->look(sizeof(RowFileMagic)));
  if (magic.size() < sizeof(RowFileMagic) ||
      std::memcmp(magic.data(), kind_.magic.data(), sizeof(RowFileMagic)) != 0) {
    return corrupt(0, std::string("this is not a ") + std::string(kind_.what));
  }
  bytes_->pass(sizeof(RowFileMagic));
  return {};
}

Status RowFileReader::seek(std::int64_t row, std::uint64_t position) {
  row_ = row;
  return bytes_->seek(position);
}

// Large rows of plain tensors are read where they stay; but only where the file can be gone back in
// when there is no memory.
bool RowFileReader::goes_straight(std::uint64_t length) const {
  if (length < kLarge || structure_ == nullptr || !bytes_->length()) return false;
  const auto leaves = structure_->leaves();
  return std::ranges::all_of(leaves, [](const Structure* leaf) {
    return leaf->kind() == Structure::Kind::kTensor && is_plain(leaf->dtype());
  });
}

Result<Tensor> RowFileReader::read_component(const Structure& leaf, std::uint64_t& left,
                                             std::uint32_t& checksum, std::uint64_t offset) {
  const auto some = [&](std::span<std::byte> out) -> Status {
    if (out.size() > left) return corrupt(offset, "a component is longer than its row");
    SW_ASSIGN(const std::size_t got, bytes_->read(out));
    if (got < out.size()) return corrupt(offset, "the file is cut off");
    left -= got;
    checksum = crc32c(out, checksum);
    return {};
  };
  std::uint8_t about[2] = {};
  SW_RETURN_IF_ERROR(some(std::as_writable_bytes(std::span(about))));
  if (about[0] != static_cast<std::uint8_t>(leaf.dtype())) {
    return corrupt(offset, "a component does not have the dtype of the spec");
  }
  std::vector<std::int64_t> dims(about[1]);
  SW_RETURN_IF_ERROR(some(std::as_writable_bytes(std::span(dims))));
  std::uint64_t bytes = size_of(leaf.dtype());
  for (const std::int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes)) {
      return corrupt(offset, "a component has no valid shape");
    }
  }
  const Shape shape{std::span<const std::int64_t>(dims)};
  if (!leaf.shape().compatible(shape)) {
    return corrupt(offset, "a component does not have the shape of the spec: expected " +
                               leaf.shape().to_string() + ", found " + shape.to_string());
  }
  if (bytes > left) return corrupt(offset, "a component is longer than its row");
  SW_ASSIGN(Tensor value, make_tensor(account_, leaf.dtype(), shape));
  SW_RETURN_IF_ERROR(some({value.mutable_data(), value.bytes()}));
  value.buffer()->touch();
  return value;
}

Result<RowFileReader::Values> RowFileReader::next_large(const RowHead& head, std::uint64_t offset) {
  bytes_->pass(sizeof head);
  std::uint64_t left = head.length;
  std::uint32_t checksum = row_checksum(head.length, {});
  std::vector<Tensor> values;
  Status status;
  for (const Structure* leaf : structure_->leaves()) {
    auto value = read_component(*leaf, left, checksum, offset);
    if (!value.ok()) {
      status = std::move(value).status();
      break;
    }
    values.push_back(std::move(value).value());
  }
  if (status.ok() && (left != 0 || checksum != head.checksum || head.zero != 0)) {
    status = corrupt(offset, "a row does not have its checksum");
  }
  if (!status.ok()) {
    SW_RETURN_IF_ERROR(bytes_->seek(offset));
    return status;
  }
  ++row_;
  return Values(std::move(values));
}

Result<std::optional<std::vector<Tensor>>> RowFileReader::next(bool wanted) {
  const std::uint64_t offset = position();
  SW_ASSIGN(const auto head_bytes, bytes_->look(sizeof(RowHead)));
  if (head_bytes.size() < sizeof(RowHead)) return corrupt(offset, "the file is cut off");
  RowHead head{};
  std::memcpy(&head, head_bytes.data(), sizeof head);
  const bool last = head.length == kRowsEnd;
  const std::uint64_t length = last ? sizeof(std::uint64_t) : head.length;
  // Where the file says how long it is, a forged length asks for no memory.
  const auto known = bytes_->length();
  if (length > SIZE_MAX - sizeof head ||
      (known && length > *known - std::min(*known, offset + sizeof head))) {
    return corrupt(offset, "a row is longer than the file");
  }
  if (wanted && !last && goes_straight(length)) return next_large(head, offset);
  auto record = bytes_->look(sizeof head + static_cast<std::size_t>(length));
  if (!record.ok()) {
    if (record.error().info().file.empty()) {
      record.error().edit().file = bytes_->file().path();
      record.error().edit().offset = static_cast<std::int64_t>(offset);
    }
    return std::move(record).status();
  }
  if (record.value().size() - sizeof head < length) return corrupt(offset, "the file is cut off");
  const auto body = record.value().subspan(sizeof head, static_cast<std::size_t>(length));
  if (row_checksum(head.length, body) != head.checksum || head.zero != 0) {
    return corrupt(offset, "a row does not have its checksum");
  }
  if (last) {
    std::uint64_t count = 0;
    std::memcpy(&count, body.data(), sizeof count);
    if (count != static_cast<std::uint64_t>(row_)) {
      return corrupt(offset, "the number of rows is wrong");
    }
    const std::uint64_t end = offset + sizeof head + length;
    if (known && *known != end) return corrupt(end, "there are bytes behind its end");
    return Values();
  }
  std::vector<Tensor> values;
  if (wanted) {
    auto parsed = parse_row_bytes(account_, body);
    if (!parsed.ok()) {
      if (parsed.error().kind() == ErrorKind::kResource) return std::move(parsed).status();
      return corrupt(offset, parsed.error().message());
    }
    values = std::move(parsed).value();
    if (structure_ != nullptr) {
      const Status fits = check_values(*structure_, values);
      if (!fits.ok()) return corrupt(offset, fits.message());
    }
  }
  bytes_->pass(sizeof head + static_cast<std::size_t>(length));
  ++row_;
  return Values(std::move(values));
}

}  // namespace spillway
