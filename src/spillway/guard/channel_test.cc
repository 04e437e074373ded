#include "spillway/guard/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "spillway/guard/message.h"

namespace spillway {
namespace {

const Channel::GiveUp kPatient = [] { return false; };
const Channel::GiveUp kHasty = [] { return true; };

TEST(Channel, LargeAndSmallMessagesArriveWholeAndInOrder) {
  auto [a, b] = Channel::pair().value();
  const std::string large(3'000'000, 'x');
  std::thread sender([&a = a, &large] {
    EXPECT_EQ(a.send(large, kPatient), Channel::Got::kAll);
    EXPECT_EQ(a.send("", kPatient), Channel::Got::kAll);
    EXPECT_EQ(a.send("last", kPatient), Channel::Got::kAll);
  });
  std::string got;
  ASSERT_EQ(b.receive(got, kPatient), Channel::Got::kAll);
  EXPECT_EQ(got, large);
  ASSERT_EQ(b.receive(got, kPatient), Channel::Got::kAll);
  EXPECT_EQ(got, "");
  ASSERT_EQ(b.receive(got, kPatient), Channel::Got::kAll);
  EXPECT_EQ(got, "last");
  sender.join();
}

TEST(Channel, OfAMessageThatWasCutOffNothingIsSeen) {
  auto [a, b] = Channel::pair().value();
  const std::uint64_t length = 100;
  ASSERT_EQ(write(a.fd(), &length, sizeof(length)), 8);
  ASSERT_EQ(write(a.fd(), "half", 4), 4);
  a.close();
  std::string got = "untouched";
  EXPECT_EQ(b.receive(got, kPatient), Channel::Got::kClosed);
  EXPECT_EQ(got, "untouched");
}

TEST(Channel, WhatWasSentBeforeTheEndStillArrives) {
  auto [a, b] = Channel::pair().value();
  ASSERT_EQ(a.send("done", kPatient), Channel::Got::kAll);
  a.close();
  std::string got;
  EXPECT_EQ(b.receive(got, kPatient), Channel::Got::kAll);
  EXPECT_EQ(got, "done");
  EXPECT_EQ(b.receive(got, kPatient), Channel::Got::kClosed);
}

TEST(Channel, WhoeverGivesUpWaitingCanComeBackForTheRest) {
  auto [a, b] = Channel::pair().value();
  std::string got;
  EXPECT_EQ(b.receive(got, kHasty), Channel::Got::kGaveUp);
  const std::uint64_t length = 4;
  ASSERT_EQ(write(a.fd(), &length, sizeof(length)), 8);
  ASSERT_EQ(write(a.fd(), "ha", 2), 2);
  EXPECT_EQ(b.receive(got, kHasty), Channel::Got::kGaveUp);
  ASSERT_EQ(write(a.fd(), "lf", 2), 2);
  EXPECT_EQ(b.receive(got, kHasty), Channel::Got::kAll);
  EXPECT_EQ(got, "half");
}

TEST(Channel, ALengthThatLiesDoesNotMakeRoomForItself) {
  auto [a, b] = Channel::pair().value();
  const std::uint64_t length = std::uint64_t{1} << 62U;
  ASSERT_EQ(write(a.fd(), &length, sizeof(length)), 8);
  a.close();
  std::string got;
  EXPECT_EQ(b.receive(got, kPatient), Channel::Got::kClosed);
}

TEST(Channel, DescriptorsTravel) {
  auto [a, b] = Channel::pair().value();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  const std::array<int, 1> fds{write_end.get()};
  ASSERT_EQ(a.send("take it", kPatient, fds), Channel::Got::kAll);
  std::string got;
  std::vector<Descriptor> received;
  ASSERT_EQ(b.receive(got, kPatient, &received), Channel::Got::kAll);
  ASSERT_EQ(received.size(), 1U);
  ASSERT_EQ(write(received[0].get(), "!", 1), 1);
  char seen = 0;
  EXPECT_EQ(read(read_end.get(), &seen, 1), 1);
}

TEST(Message, WhatIsNotThereReadsAsNothing) {
  const std::string bytes =
      MessageWriter().add(std::uint32_t{7}).add(std::string_view("abc")).bytes();
  MessageReader whole(bytes);
  EXPECT_EQ(whole.get<std::uint32_t>(), 7U);
  EXPECT_EQ(whole.text(), "abc");
  EXPECT_TRUE(whole.ok() && whole.at_end());
  MessageReader cut(std::string_view(bytes).substr(0, bytes.size() - 1));
  cut.get<std::uint32_t>();
  EXPECT_EQ(cut.text(), "");
  EXPECT_FALSE(cut.ok());
  EXPECT_EQ(cut.get<std::uint64_t>(), 0U);
  MessageReader many(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff", 8));
  EXPECT_EQ(many.count(1), 0U);
}

TEST(Channel, TheEndOfItsProcessEndsTheConversationThoughOthersHaveTheSocket) {
  auto ends = Channel::pair().value();
  const pid_t pid = fork();
  if (pid == 0) {
    ends.second.send("last words", kPatient);
    _exit(0);
  }
  const Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  ends.first.ends_with(pidfd.get());
  std::string got;
  EXPECT_EQ(ends.first.receive(got, kPatient), Channel::Got::kAll);
  EXPECT_EQ(got, "last words");
  EXPECT_EQ(ends.first.receive(got, kPatient), Channel::Got::kClosed) << "ends.second is open";
  waitpid(pid, nullptr, 0);
}

TEST(Channel, AMessageThatIsTooLargeEndsTheConversation) {
  auto ends = Channel::pair().value();
  ends.second.expect_at_most(1000);
  std::string got;
  EXPECT_EQ(ends.first.send(std::string(1000, 'x'), nullptr), Channel::Got::kAll);
  EXPECT_EQ(ends.second.receive(got, nullptr), Channel::Got::kAll);
  EXPECT_EQ(ends.first.send(std::string(1001, 'x'), nullptr), Channel::Got::kAll);
  EXPECT_EQ(ends.second.receive(got, nullptr), Channel::Got::kClosed);
}

}  // namespace
}  // namespace spillway
