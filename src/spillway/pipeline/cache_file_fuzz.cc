#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/consumer.h"

namespace {

using namespace spillway;

std::string path() {
  static const std::string kPath = [] {
    std::string made = (std::filesystem::temp_directory_path() / "cache-fuzz-XXXXXX").string();
    if (mkdtemp(made.data()) == nullptr) std::abort();
    return made + "/rows";
  }();
  return kPath;
}

NodePtr pipeline() {
  const auto node = from_json(
      R"({"spillway": 1, "nodes": [
        {"op": "range", "params": {"start": 0, "stop": 3, "step": 1, "output_type": "int64"}},
        {"op": "batch", "inputs": [0], "params": {"batch_size": 2, "drop_remainder": false}},
        {"op": "cache", "inputs": [1], "params": {"filename": ")" +
          path() + R"("}}]})",
      [](const std::string& name, const std::string&) {
        return Result<FunctionPtr>(invalid_argument("no function: ", name));
      });
  if (!node.ok()) {
    std::cerr << node.error().message() << '\n';
    std::abort();
  }
  return node.value();
}

void put(std::string& out, const void* bytes, std::size_t size) {
  out.append(static_cast<const char*>(bytes), size);
}

// Records with right checksums around pieces of `data`, so that the search gets behind them; what
// is left goes in as it is.
std::string file_of(const std::uint8_t* data, std::size_t size) {
  std::string out("SPWCACHE\1\0\0\0\0\0\0\0", 16);
  while (size > 1 && data[0] != 0) {
    const std::size_t piece = std::min<std::size_t>(data[0], size - 1);
    const std::uint64_t length = data[0] == 255 ? UINT64_MAX : piece;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data + 1), piece);
    const std::uint32_t checksum =
        crc32c(bytes, crc32c(std::as_bytes(std::span<const std::uint64_t>(&length, 1))));
    const std::uint32_t zero = 0;
    put(out, &length, sizeof length);
    put(out, &checksum, sizeof checksum);
    put(out, &zero, sizeof zero);
    put(out, bytes.data(), bytes.size());
    data += 1 + piece;
    size -= 1 + piece;
  }
  put(out, data, size);
  return out;
}

}  // namespace

// A cache file with any content: rows of the right structure, errors that name it, and an end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::ofstream(path() + ".cache", std::ios::binary) << file_of(data, size);
  Budget budget(16 << 20);
  auto consumer = Consumer::open(pipeline(), {}, budget);
  if (!consumer.ok()) return 0;
  for (int events = 0; events < 10'000; ++events) {
    const Next next = consumer.value()->next();
    if (next.ok() && !next.value()) return 0;
    if (!next.ok() && next.error().info().file.empty()) std::abort();
  }
  std::abort();
}
