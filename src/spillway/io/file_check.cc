#include "spillway/io/file_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include "spillway/io/formats/npz.h"
#include "spillway/io/formats/tar.h"
#include "spillway/io/formats/tfrecord.h"
#include "spillway/io/images/image.h"
#include "spillway/io/text_check.h"

namespace spillway {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;
constexpr std::int64_t kRows = 1024;

// The content is there to its end.
Status read_through(const FilePtr& file, Compression compression, const CheckRoom& room) {
  SW_ASSIGN(const auto stream, ByteStream::open(file, compression, room.account, kPiece));
  for (;;) {
    SW_ASSIGN(const auto next, stream->look(1));
    if (next.empty()) return {};
    stream->pass(next.size());
  }
}

template <Result<RecordReaderPtr> (*kRead)(std::unique_ptr<ByteStream>)>
Status check_records(const FilePtr& file, Compression compression, const CheckRoom& room) {
  SW_ASSIGN(auto stream, ByteStream::open(file, compression, room.account));
  SW_ASSIGN(const RecordReaderPtr reader, kRead(std::move(stream)));
  for (;;) {
    StringRows records(room.account, kRows, kPiece);
    SW_ASSIGN(const bool more, reader->read(records));
    if (!more) return {};
  }
}

Status check_npy(const FilePtr& file, Compression compression, const CheckRoom& room) {
  SW_RETURN_IF_ERROR(read_npy_header(*file).status());
  return read_through(file, compression, room);
}

Status check_npz(const FilePtr& file, Compression /*compression*/, const CheckRoom& room) {
  SW_ASSIGN(const auto names, npz_names(*file, room.account));
  for (const std::string& name : names) {
    SW_ASSIGN(const NpyArray array, open_npz(file, name, room.account));
    SW_RETURN_IF_ERROR(read_through(array.file, Compression::kNone, room));
  }
  return {};
}

Status check_tar(const FilePtr& file, Compression /*compression*/, const CheckRoom& room) {
  SW_ASSIGN(auto stream, ByteStream::open(file, tar_compression(file->path()), room.account));
  TarReader members(std::move(stream));
  for (;;) {
    SW_ASSIGN(const auto member, members.next());
    if (!member) return {};
  }
}

Status check_image(const FilePtr& file, Compression /*compression*/, const CheckRoom& room) {
  SW_ASSIGN(Buffer content, Buffer::allocate(room.account, file->size(), room.ask));
  SW_ASSIGN(const std::size_t got, file->read(0, {content.data(), content.size()}));
  const ImageBytes bytes(content.data(), got);
  const ImageCodec* const codec = find_image_codec(bytes);
  if (codec == nullptr) return unknown_image(bytes);
  Workspace workspace(room.account, room.ask);
  std::optional<Buffer> pixels;
  return codec->decode(bytes, {}, workspace, [&](const PixelExtent& extent) -> Result<std::byte*> {
    SW_ASSIGN(pixels,
              Buffer::allocate(room.account, static_cast<std::size_t>(extent.items()), room.ask));
    return pixels->data();
  });
}

Status check_text(const FilePtr& file, Compression compression, const CheckRoom& room) {
  SW_ASSIGN(const auto stream, ByteStream::open(file, compression, room.account));
  return check_utf8(*stream).status();
}

bool is_image(std::span<const std::byte> first) { return find_image_codec(first) != nullptr; }
bool is_npy(std::span<const std::byte> first) { return text_of(first).starts_with("\x93NUMPY"); }

constexpr std::string_view kImages = ".jpg .jpeg .jpe .jfif .png .gif .bmp .webp";
constexpr std::string_view kTexts =
    ".txt .text .md .csv .tsv .json .jsonl .ndjson .xml .html .htm .yaml .yml .log .tex .srt";

// One line a format.
constexpr FileFormat kFormats[] = {
    {"image", kImages, is_image, check_image},
    {"tfrecord", ".tfrecord .tfrecords .tfr", is_tfrecord, check_records<read_tfrecords>},
    {"npy", ".npy", is_npy, check_npy},
    {"npz", ".npz", nullptr, check_npz},
    {"tar", ".tar .tgz", nullptr, check_tar},
    {"text", kTexts, nullptr, check_text},
};

bool has(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != list.npos; at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

// "a/b.TXT.gz": ".txt", compressed.
struct Name {
  std::string extension;
  Compression compression = Compression::kNone;
};
Name name_of_file(std::string_view path) {
  std::string file(path.substr(path.rfind('/') + 1));
  for (char& c : file) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 0x20 : c);
  Name out;
  if (file.ends_with(".gz")) {
    out.compression = Compression::kGzip;
    file.resize(file.size() - 3);
  }
  const std::size_t dot = file.rfind('.');
  if (dot != file.npos && dot > 0) out.extension = file.substr(dot);
  return out;
}

Result<const FileFormat*> format_named(std::string_view name) {
  for (const FileFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  std::string known;
  for (const FileFormat& format : kFormats) (known += known.empty() ? "" : ", ") += format.name;
  Status status = invalid_argument("check: the format must be one of ", known, ": ", name);
  status.edit().type = "ValueError";
  return status;
}

// Null: of none that is known.
Result<const FileFormat*> format_of(const File& file, const Name& name, std::string_view text) {
  for (const FileFormat& format : kFormats) {
    if (!name.extension.empty() && has(format.extensions, name.extension)) return &format;
  }
  std::array<std::byte, 64> first{};
  SW_ASSIGN(const std::size_t got, file.read(0, first));
  for (const FileFormat& format : kFormats) {
    if (format.claims != nullptr && format.claims(std::span(first).first(got))) return &format;
  }
  if (text.empty()) return nullptr;
  return format_named("text");
}

Status check_as(const FileFormat* format, const FilePtr& file, Compression compression,
                std::string_view text, const CheckRoom& room) {
  if (file->size() == 0) {
    return corrupt_file(file->path(), 0, file->path(),
                        ": the file is empty: expected content, found 0 bytes");
  }
  const bool reads = format == nullptr || (format->check == check_text && text.empty());
  if (!reads) return format->check(file, compression, room);
  // A compressed one can be seen to be whole, whatever is in it.
  return format != nullptr || compression != Compression::kNone
             ? read_through(file, compression, room)
             : Status();
}

}  // namespace

std::span<const FileFormat> file_formats() { return kFormats; }

Result<CheckedFile> check_file(const std::string& path, std::string_view format,
                               std::string_view text, const CheckRoom& room) {
  if (!text.empty() && text != "utf-8") {
    Status status = invalid_argument("check: text must be 'utf-8': ", text);
    status.edit().type = "ValueError";
    return status;
  }
  SW_ASSIGN(const FilePtr file, open_file(path));
  const Name name = name_of_file(path);
  const FileFormat* found = nullptr;
  if (format.empty()) {
    SW_ASSIGN(found, format_of(*file, name, text));
  } else {
    SW_ASSIGN(found, format_named(format));
  }
  Status status = check_as(found, file, name.compression, text, room);
  if (!status.ok()) {
    if (status.info().file.empty()) status.edit().file = path;
    return status;
  }
  const std::string_view known = found != nullptr                         ? found->name
                                 : name.compression == Compression::kGzip ? "gzip"
                                                                          : "";
  return CheckedFile{known, file->size()};
}

}  // namespace spillway
