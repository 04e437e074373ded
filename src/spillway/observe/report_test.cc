#include "spillway/observe/report.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

constexpr const char* kDump =
    "Thread 0x00007f0000000010 (most recent call first):\n"
    "  File \"/usr/lib/threading.py\", line 320 in wait\n"
    "\n"
    "Current thread 0x00007f0000000020 (most recent call first):\n"
    "  File \"/data/train.py\", line 7 in decode\n"
    "  File \"/lib/spillway/dataset.py\", line 3 in wrapped\n"
    "  <truncated rest of calls>\n"
    "\n"
    "Extension modules: numpy (total: 1)\n";

TEST(Report, OneThreadIsCutOutOfADumpOfAll) {
  EXPECT_EQ(part_of_thread(kDump, 0x7f0000000010),
            "  File \"/usr/lib/threading.py\", line 320 in wait\n");
  EXPECT_EQ(users_part(part_of_thread(kDump, 0x7f0000000020), "/lib/spillway/"),
            "  File \"/data/train.py\", line 7 in decode\n  <truncated rest of calls>\n");
  EXPECT_EQ(part_of_thread(kDump, 0x7f0000000030), "");
  EXPECT_EQ(part_of_thread("", 0x7f0000000030), "");
}

TEST(Report, FramesOfWorkersOwnCodeAreNotTheUsers) {
  EXPECT_EQ(users_part("  File \"/x/spillway/guard/worker.py\", line 4 in main\n"
                       "  File \"<string>\", line 1 in <module>\n"
                       "  File \"a.py\", line 2 in f\n"),
            "  File \"a.py\", line 2 in f\n");
}

TEST(Report, NobodyNeedsToListen) {
  set_guard_report(nullptr);
  guard_report("said to nobody");
}

}  // namespace
}  // namespace spillway
