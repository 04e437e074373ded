#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "spillway/observe/flight_record.h"

// What lies in a cache folder: refused, or a record of bounded size. The input is a list of
// (place, length, bytes) that are written over an empty record, since only one size is read at all.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  static_cast<void>(read_flight_record(std::as_bytes(std::span(data, size))).ok());
  std::vector<std::byte> bytes(sizeof(flight::Region));
  flight::Header header{};
  header.magic = flight::kMagic;
  header.version = flight::kVersion;
  header.size = sizeof(flight::Region);
  std::memcpy(bytes.data(), &header.magic, 16);
  while (size > 4) {
    const std::size_t at = (data[0] | data[1] << 8U | (data[2] & 3U) << 16U) % bytes.size();
    const std::size_t some = std::min({std::size_t{data[3]}, size - 4, bytes.size() - at});
    std::memcpy(bytes.data() + at, data + 4, some);
    data += 4 + some;
    size -= 4 + some;
  }
  const auto record = read_flight_record(bytes);
  if (!record.ok()) return 0;
  const FlightRecord& found = record.value();
  if (found.memory.size() > flight::kSnapshots) std::abort();
  if (found.tasks.size() > flight::kThreads * flight::kLevels) std::abort();
  for (const auto& task : found.tasks) {
    if (task.element < -1 || !(task.seconds >= 0) || task.text.size() > 252) std::abort();
  }
  return 0;
}
