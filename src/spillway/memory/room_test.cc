#include "spillway/memory/room.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// A mapping may hold a thread's stack, which is taken off.
constexpr std::size_t kStack = 8 * kMiB + 64 * kKiB;

// A root folder with the files that the gauge reads, written as a kernel writes them.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = fs::temp_directory_path() / "spillway-room-XXXXXX";
    path_ = mkdtemp(name.data());
    write("/proc/meminfo",
          "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
    statm(2048, 512);
    write("/proc/self/cgroup", "0::/\n");
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() { fs::remove_all(path_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(path_ + file).parent_path());
    std::ofstream(path_ + file) << text;
  }
  // In pages of 4 KiB: what is mapped privately for writing, and what of it is in memory.
  void statm(std::size_t mapped, std::size_t anonymous) const {
    write("/proc/self/statm", "9000 " + std::to_string(anonymous + 100) + " 100 1 0 " +
                                  std::to_string(mapped) + " 0\n");
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(RoomGauge, WithoutAContainerTheMachineIsTheRoom) {
  const FakeRoot root;
  const Room room = RoomGauge(root.path()).look();
  EXPECT_EQ(room.limit, 16 * kGiB);
  EXPECT_EQ(room.used, 8 * kGiB);
  EXPECT_EQ(room.own, 512 * 4 * kKiB);
  EXPECT_EQ(room.mapped, 2048 * 4 * kKiB);
  EXPECT_STREQ(room.bound_by, "the machine");
}

TEST(RoomGauge, FilesInTheCacheOfAContainerAreNotInUse) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "4:memory:/job\n");
  root.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "805306368\n");
  root.write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "734003200\n");
  root.write(
      "/sys/fs/cgroup/memory/job/memory.stat",
      "cache 1\nactive_file 7\ntotal_inactive_file 419430400\ntotal_active_file 104857600\n");
  const Room room = RoomGauge(root.path()).look();
  EXPECT_EQ(room.limit, 768 * kMiB);
  EXPECT_EQ(room.used, 200 * kMiB);
  EXPECT_STREQ(room.bound_by, "the container");
}

TEST(RoomGauge, TheTightestOfNestedGroupsCounts) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/user/job\n");
  root.write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  root.write("/sys/fs/cgroup/user/memory.max", "1073741824\n");
  root.write("/sys/fs/cgroup/user/memory.current", "1059061760\n");
  root.write("/sys/fs/cgroup/user/memory.stat", "anon 1\nfile 2\ninactive_file 0\n");
  const Room room = RoomGauge(root.path()).look();
  EXPECT_EQ(room.limit, kGiB);
  EXPECT_EQ(room.unused(), 14 * kMiB);
}

TEST(RoomGauge, WhatIsAllocatedAndNotTouchedIsNotLeft) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/sys/fs/cgroup/memory.max", "1073741824\n");
  root.write("/sys/fs/cgroup/memory.current", "134217728\n");
  root.write("/sys/fs/cgroup/memory.stat", "inactive_file 0\n");
  const std::size_t mapped = 800 * kMiB / 4096;
  root.statm(mapped, 128 * kMiB / 4096);
  // Given by malloc() and hardly touched; an array with huge pages; a stack; a reserve.
  root.write("/proc/self/smaps",
             "7f0000000000-7f0010000000 rw-p 00000000 00:00 0 \nSize: 262144 kB\nAnonymous: 4 kB\n"
             "VmFlags: rd wr mr mw me ac\n"
             "7f1000000000-7f1010000000 rw-p 00000000 00:00 0 \nSize: 102400 kB\nAnonymous: 0 kB\n"
             "VmFlags: rd wr mr mw me ac hg\n"
             "7f2000000000-7f2000800000 rw-p 00000000 00:00 0 \nSize: 8192 kB\nAnonymous: 8 kB\n"
             "VmFlags: rd wr mr mw me ac\n"
             "7f3000000000-7f3010000000 rw-p 00000000 00:00 0 \nSize: 131072 kB\nAnonymous: 0 kB\n"
             "VmFlags: rd wr mr mw me ac\n"
             "7f4000000000-7f4010000000 rw-p 00000000 fe:00 77 /a/file\nSize: 65536 kB\n"
             "Anonymous: 4 kB\nVmFlags: rd wr mr mw me ac\n");
  RoomGauge gauge(root.path());
  const Room room = gauge.look_closely();
  EXPECT_GE(room.untouched, 256 * kMiB - 4 * kKiB + 100 * kMiB - kStack);
  EXPECT_LE(room.untouched, 256 * kMiB + 100 * kMiB);
  EXPECT_EQ(room.left(), room.unused() - room.untouched);
  // What the close look found to be of no concern stays so in the quick ones.
  EXPECT_EQ(gauge.look().untouched, room.untouched);
}

TEST(RoomGauge, WhatArrowsAllocatorHasTakenWillBeFilledAndWhatItReservesWillNot) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/sys/fs/cgroup/memory.max", "1073741824\n");
  root.write("/sys/fs/cgroup/memory.current", "134217728\n");
  root.write("/sys/fs/cgroup/memory.stat", "inactive_file 0\n");
  root.statm(800 * kMiB / 4096, 128 * kMiB / 4096);
  // A piece that it fills; a GiB that it has taken at once; a thread's arena of malloc().
  root.write("/proc/self/smaps",
             "2b9de000000-2b9e2000000 rw-p 00000000 00:00 0 \nSize: 65536 kB\nAnonymous: 4096 kB\n"
             "VmFlags: rd wr mr mw me nr hg\n"
             "2ba00000000-2ba40000000 rw-p 00000000 00:00 0 \nSize: 1048576 kB\nAnonymous: 4 kB\n"
             "VmFlags: rd wr mr mw me nr hg\n"
             "7f4854000000-7f4858000000 rw-p 00000000 00:00 0 \nSize: 65536 kB\nAnonymous: 4 kB\n"
             "VmFlags: rd wr mr mw me nr\n");
  RoomGauge gauge(root.path());
  const std::size_t untouched = gauge.look_closely().untouched;
  EXPECT_GE(untouched, 60 * kMiB - kStack);
  EXPECT_LE(untouched, 60 * kMiB);
}

TEST(RoomGauge, SeesTheMemoryOfThisProcessBeforeItIsTouched) {
  constexpr std::size_t kBytes = 64 * kMiB;
  RoomGauge gauge;
  const Room before = gauge.look_closely();
  auto* memory = static_cast<char*>(malloc(kBytes));
  ASSERT_NE(memory, nullptr);
  const Room allocated = gauge.look_closely();
  EXPECT_GE(allocated.untouched, before.untouched + kBytes - kStack - kMiB);
  std::memset(memory, 1, kBytes);
  const Room filled = gauge.look_closely();
  EXPECT_LE(filled.untouched, before.untouched + kMiB);
  EXPECT_GE(filled.own, allocated.own + kBytes - kMiB);
  free(memory);
}

TEST(KeptFree, IsLessThanPipelinesLeave) {
  EXPECT_EQ(kept_free(256 * kMiB), 16 * kMiB);
  EXPECT_EQ(kept_free(kGiB), kGiB / 25);
  EXPECT_EQ(kept_free(64 * kGiB), 256 * kMiB);
}

}  // namespace
}  // namespace spillway
