#include "spillway/pipeline/string_joining.h"

#include <cstring>

#include "spillway/tensor/string_rows.h"

namespace spillway {
namespace {

std::size_t string_bytes(const Tensor& t) {
  return t.footprint() - static_cast<std::size_t>(t.count() + 1) * sizeof(std::int64_t);
}

}  // namespace

bool StringJoining::is_large(const std::vector<Tensor>& pieces) {
  std::size_t bytes = 0;
  for (const Tensor& piece : pieces) {
    if (piece.dtype() == DType::kString) bytes += string_bytes(piece);
  }
  return bytes >= Filling::kLeast;
}

Status StringJoining::begin(const AccountPtr& account, const std::vector<Tensor>& pieces) {
  std::size_t bytes = 0;
  std::int64_t rows = 0;
  std::int64_t count = 0;
  for (const Tensor& piece : pieces) {
    bytes += string_bytes(piece);
    rows += piece.shape()[0];
    count += piece.count();
  }
  SW_ASSIGN(BufferPtr offsets,
            Buffer::share(account, static_cast<std::size_t>(count + 1) * sizeof(std::int64_t),
                          Buffer::Ask::kRequired));
  SW_ASSIGN(bytes_, Filling::begin(account, bytes, Filling::Comes::kAll));
  *reinterpret_cast<std::int64_t*>(offsets->data()) = 0;
  offsets_ = std::move(offsets);
  shape_ = pieces[0].shape().without_leading().with_leading(rows);
  return {};
}

Result<Tensor> StringJoining::finish(const AccountPtr& account, std::vector<Tensor>& pieces) {
  if (bytes_ == nullptr) SW_RETURN_IF_ERROR(begin(account, pieces));
  for (; done_ < pieces.size(); ++done_) {
    Tensor& piece = pieces[done_];
    SW_RETURN_IF_ERROR(bytes_->extend(filled_ + string_bytes(piece)));
    copy(piece);
    bytes_->touch(filled_);
    piece = Tensor();
  }
  bytes_->end(filled_);
  offsets_->touch();
  Tensor out = Tensor::of_strings(shape_, {std::move(offsets_), bytes_->buffer()});
  bytes_.reset();
  return out;
}

void StringJoining::copy(const Tensor& strings) {
  auto* offsets = reinterpret_cast<std::int64_t*>(offsets_->data()) + strings_;
  std::byte* to = bytes_->buffer()->data();
  strings_ += strings.count();
  if (strings_apart(strings)) {
    for (std::int64_t i = 0; i < strings.count(); ++i) {
      const std::string_view item = strings.string_at(i);
      if (!item.empty()) std::memcpy(to + filled_, item.data(), item.size());
      filled_ += item.size();
      *++offsets = static_cast<std::int64_t>(filled_);
    }
    return;
  }
  const auto* from =
      reinterpret_cast<const std::int64_t*>(strings.string_offsets()->data()) + strings.first();
  const std::int64_t begin = from[0];
  const auto size = static_cast<std::size_t>(from[strings.count()] - begin);
  const std::int64_t shift = static_cast<std::int64_t>(filled_) - begin;
  for (std::int64_t i = 1; i <= strings.count(); ++i) offsets[i] = from[i] + shift;
  if (size > 0) std::memcpy(to + filled_, strings.buffer()->data() + begin, size);
  filled_ += size;
}

}  // namespace spillway
