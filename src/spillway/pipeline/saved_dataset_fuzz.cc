#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "spillway/pipeline/consumer.h"
#include "spillway/pipeline/saved_dataset.h"
#include "spillway/pipeline/sealed_json.h"

namespace {

using namespace spillway;

constexpr const char* kRun = "0123456789abcdef";

std::string folder() {
  static const std::string kPath = [] {
    std::string made = (std::filesystem::temp_directory_path() / "saved-fuzz-XXXXXX").string();
    if (mkdtemp(made.data()) == nullptr) std::abort();
    std::filesystem::create_directory(made + "/" + kRun);
    return made;
  }();
  return kPath;
}

void put(std::string& out, const void* bytes, std::size_t size) {
  out.append(static_cast<const char*>(bytes), size);
}

// Records with right checksums around pieces of `data`, so that the search gets behind them; what
// is left goes in as it is.
std::string shard_of(const std::uint8_t* data, std::size_t size) {
  std::string out(kSavedMagic.data(), kSavedMagic.size());
  while (size > 1 && data[0] != 0) {
    const std::size_t piece = std::min<std::size_t>(data[0], size - 1);
    const std::uint64_t length = data[0] == 255 ? kRowsEnd : piece;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data + 1), piece);
    const RowHead head{length, row_checksum(length, bytes)};
    put(out, &head, sizeof head);
    put(out, bytes.data(), bytes.size());
    data += 1 + piece;
    size -= 1 + piece;
  }
  put(out, data, size);
  return out;
}

SavedDataset two_rows(Compression compression, std::size_t bytes) {
  SavedDataset saved;
  saved.run = kRun;
  saved.structure = Structure::tensor(DType::kInt64, Shape({kUnknownDim}));
  saved.compression = compression;
  saved.shards = {{0, 2, bytes}};
  return saved;
}

// Good metadata, changed as (place, length, bytes) of `data` say, with the checksum that belongs to
// what they are then.
std::string spoiled_metadata(const std::uint8_t* data, std::size_t size) {
  std::string text = metadata_text(two_rows(Compression::kNone, 8));
  text = text.substr(0, text.rfind(",\"crc32c\"")) + "}";
  while (size > 3) {
    const std::size_t at = (data[0] | std::size_t{data[1]} << 8U) % text.size();
    const std::size_t some = std::min({std::size_t{data[2]}, size - 3, text.size() - at});
    text.replace(at, some, reinterpret_cast<const char*>(data + 3), some);
    data += 3 + some;
    size -= 3 + some;
  }
  return seal_json(text) + "\n";
}

}  // namespace

// A saved dataset with any metadata, or with good ones that were spoiled before they were sealed,
// or with good ones and any shard, plain or compressed: rows of the right structure, errors that
// name a file, and an end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned choice = data[0] % 4;
  std::string metadata(reinterpret_cast<const char*>(data + 1), size - 1);
  if (choice == 3) {
    metadata = spoiled_metadata(data + 1, size - 1);
  } else if (choice > 0) {
    const std::string shard = choice == 1 ? shard_of(data + 1, size - 1) : metadata;
    std::ofstream(shard_path(folder(), kRun, 0), std::ios::binary) << shard;
    metadata = metadata_text(
        two_rows(choice == 1 ? Compression::kNone : Compression::kGzip, shard.size()));
  }
  std::ofstream(metadata_path(folder()), std::ios::binary) << metadata;
  const auto node = from_json(
      R"({"spillway": 1, "nodes": [{"op": "load", "params": {"path": ")" + folder() + R"("}}]})",
      [](const std::string&, const std::string&) {
        return Result<FunctionPtr>(invalid_argument("no functions"));
      });
  if (!node.ok()) return 0;
  Budget budget(16 << 20);
  auto consumer = Consumer::open(node.value(), {}, budget);
  if (!consumer.ok()) return 0;
  for (int events = 0; events < 70'000; ++events) {
    const Next next = consumer.value()->next();
    if (next.ok() && !next.value()) return 0;
    if (next.ok()) continue;
    if (next.error().kind() == ErrorKind::kResource) return 0;
    if (next.error().info().file.empty()) std::abort();
  }
  std::abort();
}
