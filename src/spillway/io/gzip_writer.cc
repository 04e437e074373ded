#include "spillway/io/gzip_writer.h"

#include <zlib.h>

#include <algorithm>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

constexpr std::size_t kPiece = 64 * kKiB;
constexpr std::size_t kState = 268 * kKiB;  // what zlib says of windowBits 15 and memLevel 8
constexpr std::size_t kMostAtATime = std::size_t{1} << 30U;

}  // namespace

struct GzipWriter::State {
  z_stream stream{};
  bool ready = false;
};

GzipWriter::GzipWriter(Buffer out) : state_(std::make_unique<State>()), out_(std::move(out)) {}

GzipWriter::~GzipWriter() {
  if (state_->ready) deflateEnd(&state_->stream);
}

Result<std::unique_ptr<GzipWriter>> GzipWriter::make(const AccountPtr& account) {
  SW_ASSIGN(Buffer out, Buffer::allocate(account, kPiece, Buffer::Ask::kRequired));
  auto made = std::unique_ptr<GzipWriter>(new GzipWriter(std::move(out)));
  SW_ASSIGN(made->held_, account->reserve(kState));
  if (deflateInit2(&made->state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return out_of_resource("gzip: no memory to compress with");
  }
  made->state_->ready = true;
  return made;
}

Status GzipWriter::add(std::span<const std::byte> in, bool last, const Write& write) {
  z_stream& stream = state_->stream;
  for (;;) {
    const std::size_t some = std::min(in.size(), kMostAtATime);
    const bool ends = last && some == in.size();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream.avail_in = static_cast<uInt>(some);
    int code = Z_OK;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream.avail_out = static_cast<uInt>(out_.size());
      code = deflate(&stream, ends ? Z_FINISH : Z_NO_FLUSH);
      if (code == Z_STREAM_ERROR) return internal_bug("gzip: deflate lost its state");
      const std::size_t made = out_.size() - stream.avail_out;
      out_.touch();
      if (made > 0) SW_RETURN_IF_ERROR(write({out_.data(), made}));
    } while (stream.avail_out == 0 || (ends && code != Z_STREAM_END));
    in = in.subspan(some);
    if (ends && deflateReset(&stream) != Z_OK) return internal_bug("gzip: deflate lost its state");
    if (in.empty()) return {};
  }
}

}  // namespace spillway
