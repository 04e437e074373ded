#include "spillway/observe/flight_record.h"

#include <algorithm>
#include <cstring>

namespace spillway {
namespace {

using flight::Header;
using flight::Level;
using flight::Region;
using flight::Snapshot;
using flight::Thread;

// Fields are copied out by their places, never used where they lie.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T get(std::size_t at) const {
    T value{};
    if (at <= bytes_.size() && bytes_.size() - at >= sizeof(T)) {
      std::memcpy(&value, bytes_.data() + at, sizeof(T));
    }
    return value;
  }
  // Up to the first zero.
  std::string text(std::size_t at, std::size_t most) const {
    if (at > bytes_.size()) return "";
    most = std::min(most, bytes_.size() - at);
    const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at;
    return {begin, strnlen(begin, most)};
  }

 private:
  std::span<const std::byte> bytes_;
};

double seconds_between(std::int64_t from, std::int64_t to) {
  return std::max(0.0, (static_cast<double>(to) - static_cast<double>(from)) * 1e-9);
}

std::string text_at(const Bytes& in, std::uint32_t number) {
  if (number == 0 || number >= flight::kTexts) return "";
  const std::size_t at = offsetof(Region, texts) + number * sizeof(flight::Text);
  const auto size = in.get<std::uint32_t>(at + offsetof(flight::Text, size));
  return in.text(at + offsetof(flight::Text, bytes),
                 std::min<std::size_t>(size, sizeof(flight::Text::bytes)));
}

void read_thread(const Bytes& in, std::size_t at, std::int64_t seen_ns, FlightRecord& out) {
  const auto owner = in.get<std::uint64_t>(at + offsetof(Thread, owner));
  if (owner == 0) return;
  for (std::size_t i = 0; i < flight::kLevels; ++i) {
    const std::size_t level = at + offsetof(Thread, levels) + i * sizeof(Level);
    const auto phase = in.get<std::uint32_t>(level + offsetof(Level, phase));
    if (phase == 0 || phase > static_cast<std::uint32_t>(flight::Phase::kLast)) continue;
    FlightRecord::Task task;
    task.thread = owner;
    task.level = static_cast<int>(i);
    task.phase = static_cast<flight::Phase>(phase);
    task.whole = in.get<std::uint64_t>(level + offsetof(Level, serial)) % 2 == 0;
    task.text = text_at(in, in.get<std::uint32_t>(level + offsetof(Level, text)));
    if (task.phase == flight::Phase::kFile) {
      task.detail = in.text(at + offsetof(Thread, detail), sizeof(Thread::detail));
    }
    task.epoch = in.get<std::int64_t>(level + offsetof(Level, epoch));
    const auto element = in.get<std::int64_t>(level + offsetof(Level, element));
    const auto row = in.get<std::int64_t>(level + offsetof(Level, row));
    const bool sane = element >= 0 && row >= 0 && row <= INT64_MAX - element;
    task.element = sane ? element + row : -1;
    task.seconds =
        seconds_between(in.get<std::int64_t>(level + offsetof(Level, since_ns)), seen_ns);
    task.amount = in.get<std::int64_t>(level + offsetof(Level, amount));
    out.tasks.push_back(std::move(task));
  }
}

FlightRecord::Memory read_snapshot(const Bytes& in, std::size_t at, std::int64_t seen_ns) {
  FlightRecord::Memory memory;
  memory.ago = seconds_between(in.get<std::int64_t>(at + offsetof(Snapshot, at_ns)), seen_ns);
  memory.used = in.get<std::uint64_t>(at + offsetof(Snapshot, used));
  memory.limit = in.get<std::uint64_t>(at + offsetof(Snapshot, limit));
  memory.untracked = in.get<std::uint64_t>(at + offsetof(Snapshot, untracked));
  memory.own = in.get<std::uint64_t>(at + offsetof(Snapshot, own));
  memory.container = in.get<std::uint64_t>(at + offsetof(Snapshot, container));
  memory.container_used = in.get<std::uint64_t>(at + offsetof(Snapshot, container_used));
  memory.oom_kills = in.get<std::int64_t>(at + offsetof(Snapshot, oom_kills));
  for (std::size_t h = 0; h < flight::kHolders; ++h) {
    const auto text = in.get<std::uint32_t>(at + offsetof(Snapshot, holders) + h * 4);
    const auto held = in.get<std::uint64_t>(at + offsetof(Snapshot, held) + h * 8);
    if (text == 0 || text >= flight::kTexts || held == 0) continue;
    memory.holders.push_back({text_at(in, text), held});
  }
  return memory;
}

}  // namespace

Result<FlightRecord> read_flight_record(std::span<const std::byte> bytes) {
  const Bytes in(bytes);
  if (bytes.size() != sizeof(Region) ||
      in.get<std::array<char, 8>>(offsetof(Header, magic)) != flight::kMagic) {
    return bad_data(Code::kDataLoss, "not a flight record: ", bytes.size(), " bytes");
  }
  if (in.get<std::uint32_t>(offsetof(Header, version)) != flight::kVersion ||
      in.get<std::uint32_t>(offsetof(Header, size)) != sizeof(Region)) {
    return bad_data(Code::kDataLoss, "a flight record of another version: ",
                    in.get<std::uint32_t>(offsetof(Header, version)));
  }
  FlightRecord out;
  out.pid = in.get<std::int64_t>(offsetof(Header, pid));
  out.start_ticks = in.get<std::uint64_t>(offsetof(Header, start_ticks));
  out.pid_namespace = in.get<std::uint64_t>(offsetof(Header, pid_namespace));
  out.boot = in.text(offsetof(Header, boot), sizeof(Header::boot));
  out.host = in.text(offsetof(Header, host), sizeof(Header::host));
  out.cgroup = in.text(offsetof(Header, cgroup), sizeof(Header::cgroup));
  out.program = in.text(offsetof(Header, program), sizeof(Header::program));
  out.interpreter = in.text(offsetof(Header, interpreter), sizeof(Header::interpreter));
  const auto wall = in.get<std::int64_t>(offsetof(Header, wall_ns));
  const auto mono = in.get<std::int64_t>(offsetof(Header, mono_ns));
  const auto seen = in.get<std::int64_t>(offsetof(Header, seen_ns));
  out.began = static_cast<double>(wall) * 1e-9;
  out.last_seen = out.began + seconds_between(mono, seen);
  out.oom_kills = in.get<std::int64_t>(offsetof(Header, oom_kills));
  out.open = in.get<std::int64_t>(offsetof(Header, open));
  out.reports = in.get<std::uint64_t>(offsetof(Header, reports));
  out.report = in.text(offsetof(Header, report),
                       std::min<std::size_t>(in.get<std::uint32_t>(offsetof(Header, reported)),
                                             sizeof(Header::report)));
  out.report_ago = seconds_between(in.get<std::int64_t>(offsetof(Header, reported_ns)), seen);
  const std::size_t handed = offsetof(Header, handed);
  if (in.get<std::uint64_t>(handed + offsetof(flight::Handed, run)) != 0) {
    out.handed = std::max<std::int64_t>(
        -1, in.get<std::int64_t>(handed + offsetof(flight::Handed, element)));
    out.handed_by = text_at(in, in.get<std::uint32_t>(handed + offsetof(flight::Handed, text)));
    out.handed_file = in.text(
        handed + offsetof(flight::Handed, file),
        std::min<std::size_t>(in.get<std::uint32_t>(handed + offsetof(flight::Handed, size)),
                              sizeof(flight::Handed::file)));
  }
  for (std::size_t t = 0; t < flight::kThreads; ++t) {
    read_thread(in, offsetof(Region, threads) + t * sizeof(Thread), seen, out);
  }
  // By their numbers: those that never were, or were cut short, have none in the last round.
  const auto taken = in.get<std::uint64_t>(offsetof(Header, snapshots));
  const std::uint64_t first = taken > flight::kSnapshots ? taken - flight::kSnapshots : 0;
  for (std::uint64_t number = first; number < taken; ++number) {
    const std::size_t at =
        offsetof(Region, snapshots) + (number % flight::kSnapshots) * sizeof(Snapshot);
    if (in.get<std::uint64_t>(at + offsetof(Snapshot, serial)) != number + 1) continue;
    out.memory.push_back(read_snapshot(in, at, seen));
  }
  return out;
}

}  // namespace spillway
