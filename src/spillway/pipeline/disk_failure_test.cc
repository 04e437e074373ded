#include "spillway/pipeline/disk_failure.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace spillway {
namespace {

TEST(DiskFailure, IsAFullOrAFailingDiskAndNothingElse) {
  for (const int full : {ENOSPC, EDQUOT, EFBIG}) {
    const Status status = write_failure("cache: cannot write", "/data/a", full);
    EXPECT_TRUE(is_disk_failure(status)) << full;
    EXPECT_EQ(status.info().type, "DiskFull");
    EXPECT_EQ(status.kind(), ErrorKind::kResource);
    EXPECT_EQ(status.info().file, "/data/a");
  }
  const Status fails = write_failure("cache: cannot write", "/data/a", EIO);
  EXPECT_TRUE(is_disk_failure(fails));
  EXPECT_EQ(fails.code(), Code::kUnavailable);
  EXPECT_EQ(fails.message(), "cache: cannot write /data/a: Input/output error");
  for (const int user : {ENOENT, EACCES, EROFS, EEXIST}) {
    const Status status = write_failure("cache: cannot create", "/data/a", user);
    EXPECT_FALSE(is_disk_failure(status)) << user;
    EXPECT_EQ(status.kind(), ErrorKind::kUser);
  }
  EXPECT_FALSE(is_disk_failure({}));
  EXPECT_FALSE(is_disk_failure(out_of_resource("the memory limit is reached")));
}

}  // namespace
}  // namespace spillway
