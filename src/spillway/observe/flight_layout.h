#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// What lies where in the memory that outlives the process (flight_file.h). Everything is of fixed
// size and at a fixed place: a reader of a damaged file has nothing to follow. Fields that threads
// write while the watchdog reads are relaxed atomics, made whole by their `serial`.
namespace spillway::flight {

inline constexpr std::array<char, 8> kMagic = {'S', 'P', 'W', 'F', 'L', 'I', 'G', 'H'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kTexts = 256;
inline constexpr std::size_t kThreads = 128;
inline constexpr std::size_t kLevels = 4;
inline constexpr std::size_t kSnapshots = 600;  // a minute of tenths of a second
inline constexpr std::size_t kHolders = 4;
inline constexpr std::size_t kDetailWords = 14;

// What a thread is at. Nothing: it is not there.
enum class Phase : std::uint8_t {
  kNone,
  kConsumer,   // waits for the next element of a pipeline
  kFunction,   // in a user's function
  kGenerator,  // in a user's generator
  kWorker,     // waits for a worker process
  kFile,       // reads a file
  kMemory,     // waits for bytes of the budget
  kLast = kMemory,
};

// One thing that a thread does, within the one before it.
struct Level {
  std::atomic<std::uint64_t> serial;  // odd while it is written; another one for each thing
  std::atomic<std::uint32_t> phase;
  std::atomic<std::uint32_t> text;
  std::atomic<std::int64_t> epoch;
  std::atomic<std::int64_t> element;   // of its first row; -1: none
  std::atomic<std::int64_t> row;       // it is at, counted from there
  std::atomic<std::int64_t> since_ns;  // monotonic
  std::atomic<std::int64_t> amount;    // a worker's pid, an offset in a file, bytes
  std::atomic<std::uint64_t> run;      // tells runs apart
};
static_assert(sizeof(Level) == 64);

struct Thread {
  std::atomic<std::uint64_t> owner;  // the kernel's number of the thread; 0: nobody's
  std::atomic<std::uint64_t> ident;  // pthread_self(), as Python shows it
  std::array<std::atomic<std::uint64_t>, kDetailWords> detail;  // the end of a path
  std::array<Level, kLevels> levels;
};
static_assert(sizeof(Thread) == 384);

// What was handed on last: to whoever asks for elements, who is then in code of his own.
struct Handed {
  std::atomic<std::uint64_t> run;                   // tells runs apart; 0: nothing
  std::atomic<std::uint32_t> text;                  // of the last stage
  std::atomic<std::uint32_t> size;                  // of `file`
  std::atomic<std::int64_t> element;                // its number in the pass
  std::array<std::atomic<std::uint64_t>, 32> file;  // the end of its path
};
static_assert(sizeof(Handed) == 280);

struct Text {
  std::atomic<std::uint32_t> size;
  std::array<char, 252> bytes;
};

// Who held how much at one moment. Written by the watchdog only.
struct Snapshot {
  std::atomic<std::uint64_t> serial;  // its number, from 1 on; 0: none, or half written
  std::int64_t at_ns;                 // monotonic
  std::uint64_t used;                 // of the ledger
  std::uint64_t limit;                // in force
  std::uint64_t untracked;
  std::uint64_t own;             // anonymous memory of the process
  std::uint64_t container;       // what the container allows
  std::uint64_t container_used;  // by all processes in it; 0: not known
  std::int64_t oom_kills;        // of the cgroup; -1: not known
  std::array<std::uint32_t, kHolders> holders;
  std::array<std::uint64_t, kHolders> held;
  std::array<std::uint64_t, 1> spare;
};
static_assert(sizeof(Snapshot) == 128);

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t size;  // of the whole
  std::int64_t pid;
  std::uint64_t start_ticks;  // when the kernel started the process, after boot
  std::uint64_t pid_namespace;
  std::int64_t wall_ns;  // when recording began, by both clocks
  std::int64_t mono_ns;
  std::int64_t oom_kills;  // then; -1: not known
  std::array<char, 40> boot;
  std::array<char, 72> host;
  std::array<char, 256> cgroup;
  std::array<char, 512> program;
  std::array<char, 256> interpreter;
  std::atomic<std::int64_t> open;        // passes under way
  std::atomic<std::int64_t> seen_ns;     // the watchdog's last look, monotonic
  std::atomic<std::uint64_t> snapshots;  // taken so far
  std::atomic<std::uint64_t> reports;    // told so far
  std::atomic<std::uint32_t> reported;   // bytes of `report`
  std::uint32_t spare;
  std::atomic<std::int64_t> reported_ns;  // when
  std::array<char, 2048> report;          // the last one
  Handed handed;
  std::array<char, 520> reserve;
};
static_assert(sizeof(Header) == 4096);

struct Region {
  Header header;
  std::array<Text, kTexts> texts;
  std::array<Thread, kThreads> threads;
  std::array<Snapshot, kSnapshots> snapshots;
};
static_assert(sizeof(Region) <= 256 * 1024);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace spillway::flight
