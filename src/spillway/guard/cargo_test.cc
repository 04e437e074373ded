#include "spillway/guard/cargo.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace spillway {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(const BufferPtr& part) {
  return {reinterpret_cast<const char*>(part->data()), part->size()};
}

Result<CargoPtr> two_parts(const AccountPtr& account, const std::string& text,
                           const std::string& part) {
  SW_ASSIGN(const std::shared_ptr<Cargo> made, Cargo::large(account, text.size(), {part.size()}));
  SW_RETURN_IF_ERROR(made->write(bytes_of(text).first(text.size() / 2)));
  SW_RETURN_IF_ERROR(made->write(bytes_of(text).subspan(text.size() / 2)));
  SW_RETURN_IF_ERROR(made->begin_part());
  SW_RETURN_IF_ERROR(made->write(bytes_of(part)));
  SW_RETURN_IF_ERROR(made->seal());
  return CargoPtr(made);
}

// Over there, as a worker has it.
Result<Parcel> sent(const Cargo& cargo) {
  MessageWriter out;
  std::vector<int> fds;
  cargo.send(out, fds);
  std::deque<Descriptor> arrived;
  for (const int fd : fds) arrived.emplace_back(dup(fd));
  MessageReader in(out.bytes());
  return Cargo::receive(in, arrived);
}

TEST(Cargo, ASmallOneTravelsInTheMessage) {
  const CargoPtr cargo = Cargo::small("def f");
  const Parcel parcel = sent(*cargo).value();
  EXPECT_EQ(parcel.text, "def f");
  EXPECT_TRUE(parcel.parts.empty());
  EXPECT_NE(cargo->fingerprint(), Cargo::small("def g")->fingerprint());
}

TEST(Cargo, ALargeOneIsReservedUntilItGoesAndIsThereOnce) {
  Budget budget(64 * kMiB);
  const auto account = budget.open_account("functions");
  const std::string text(100'000, 't');
  const std::string part(3 * kMiB, 'p');
  CargoPtr cargo = two_parts(account, text, part).value();
  EXPECT_GE(account->held(), text.size() + part.size());
  const std::size_t held = account->held();
  Parcel first = sent(*cargo).value();
  const Parcel second = sent(*cargo).value();
  EXPECT_EQ(text_of(first.parts[0]), text);
  EXPECT_EQ(text_of(first.parts[1]), part);
  EXPECT_EQ(account->held(), held);
  cargo = nullptr;
  EXPECT_EQ(account->held(), 0);
  EXPECT_EQ(text_of(second.parts[1]), part) << "a mapping outlives the descriptor";
}

TEST(Cargo, WhatOneWorkerChangesIsNotTheOthers) {
  Budget budget(64 * kMiB);
  const auto account = budget.open_account("functions");
  const CargoPtr cargo = two_parts(account, "text", std::string(kMiB, 'p')).value();
  Parcel first = sent(*cargo).value();
  first.parts[1]->data()[5] = std::byte{'x'};
  EXPECT_EQ(text_of(sent(*cargo).value().parts[1]), std::string(kMiB, 'p'));
  EXPECT_EQ(text_of(cargo->open().value().parts[1]), std::string(kMiB, 'p'));
}

TEST(Cargo, NobodyCanWriteToItOnceItIsSealed) {
  Budget budget(64 * kMiB);
  const auto account = budget.open_account("functions");
  const CargoPtr cargo = two_parts(account, "text", std::string(kMiB, 'p')).value();
  MessageWriter out;
  std::vector<int> fds;
  cargo->send(out, fds);
  ASSERT_EQ(fds.size(), 1);
  EXPECT_LT(pwrite(fds[0], "x", 1, 0), 0);
  EXPECT_LT(ftruncate(fds[0], 0), 0);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0), MAP_FAILED);
}

TEST(Cargo, WithoutRoomItIsRefusedBeforeAnythingIsCopied) {
  Budget budget(4 * kMiB);
  const auto account = budget.open_account("functions");
  const auto refused = Cargo::large(account, 10, {8 * kMiB});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kResource);
  EXPECT_EQ(account->held(), 0);
}

TEST(Cargo, WhatChangesWhileItIsPackedIsFound) {
  Budget budget(64 * kMiB);
  const auto account = budget.open_account("functions");
  const auto grown = Cargo::large(account, 4, {}).value();
  EXPECT_FALSE(grown->write(bytes_of("12345")).ok());
  const auto shrunk = Cargo::large(account, 4, {}).value();
  EXPECT_TRUE(shrunk->write(bytes_of("123")).ok());
  EXPECT_FALSE(shrunk->seal().ok());
  EXPECT_FALSE(shrunk->begin_part().ok());
}

TEST(Cargo, ADamagedMessageIsAnError) {
  Budget budget(64 * kMiB);
  const auto account = budget.open_account("functions");
  const CargoPtr cargo = two_parts(account, "text", std::string(kMiB, 'p')).value();
  MessageWriter out;
  std::vector<int> fds;
  cargo->send(out, fds);
  for (std::size_t length = 0; length < out.bytes().size(); ++length) {
    std::deque<Descriptor> arrived;
    arrived.emplace_back(dup(fds[0]));
    MessageReader in(std::string_view(out.bytes()).substr(0, length));
    const auto got = Cargo::receive(in, arrived);
    EXPECT_TRUE(!got.ok() || got.value().parts.empty()) << length;
  }
}

}  // namespace
}  // namespace spillway
