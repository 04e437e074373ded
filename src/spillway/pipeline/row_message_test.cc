#include "spillway/pipeline/row_message.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/testing/pipelines.h"

namespace spillway {
namespace {

using testing::i64;
using testing::show;
using testing::str;

class RowMessage : public ::testing::Test {
 protected:
  Tensor floats(std::int64_t count, float first) {
    Tensor out = make_tensor(account, DType::kFloat32, Shape({count})).value();
    auto* items = reinterpret_cast<float*>(out.mutable_data());
    for (std::int64_t i = 0; i < count; ++i) items[i] = first + static_cast<float>(i);
    return out;
  }
  static StructurePtr spec() {
    return Structure::tuple({Structure::tensor(DType::kInt64, {}),
                             Structure::tensor(DType::kString, {}),
                             Structure::tensor(DType::kFloat32, Shape({kUnknownDim}))});
  }
  Chunk rows(std::vector<std::int64_t> lengths) {
    std::vector<Row> made;
    made.reserve(lengths.size());
    for (const std::int64_t n : lengths) {
      made.push_back(Row{{i64(n), str("row " + std::to_string(n)), floats(n, 1.0F)}, {}});
    }
    return Chunk::from_rows(spec(), std::move(made));
  }
  static void expect_same(const Chunk& a, const Chunk& b) {
    ASSERT_EQ(a.rows(), b.rows());
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      const Row x = a.row(i);
      const Row y = b.row(i);
      ASSERT_EQ(x.values.size(), y.values.size());
      for (std::size_t c = 0; c < x.values.size(); ++c)
        EXPECT_TRUE(x.values[c].equals(y.values[c]));
    }
  }

  Budget budget{256 << 20};
  AccountPtr account = budget.open_account("test");
  std::shared_ptr<SharedMemory> memory = SharedMemory::create(budget, 64 << 20).value();
  RowSender sender;
  RowReceiver receiver;
};

TEST_F(RowMessage, RowsOfAllSizesArriveAsTheyWere) {
  const Chunk sent = rows({0, 3, 100'000, 1, 40'000, 16'384, 16'383});
  SharedMemory::Piece room = memory->take(account, RowSender::room_for(sent));
  MessageWriter out;
  ASSERT_TRUE(sender.add(sent, room.offset(), room.bytes(), out).ok());
  MessageReader in(out.bytes());
  const auto got = receiver.own(in, account, std::move(room));
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_TRUE(in.at_end());
  expect_same(sent, got.value());
  EXPECT_EQ(*got.value().structure(), *spec());
}

TEST_F(RowMessage, ALargeTensorIsOwnedAlone) {
  const Chunk sent = rows({100'000, 100'000});
  SharedMemory::Piece room = memory->take(account, RowSender::room_for(sent));
  MessageWriter out;
  ASSERT_TRUE(sender.add(sent, room.offset(), room.bytes(), out).ok());
  MessageReader in(out.bytes());
  Tensor kept;
  {
    const auto got = receiver.own(in, account, std::move(room));
    ASSERT_TRUE(got.ok());
    kept = got.value().row(1).values[2];
  }
  EXPECT_EQ(kept.buffer()->charged(), SharedMemory::rounded(kept.bytes()));
  EXPECT_EQ(kept.as<float>()[99'999], 100'000.0F);
}

TEST_F(RowMessage, ACopyDoesNotChangeWithTheRoom) {
  const Chunk sent = rows({0, 3, 100'000, 1, 40'000});
  SharedMemory::Piece room = memory->take(account, RowSender::room_for(sent));
  MessageWriter out;
  ASSERT_TRUE(sender.add(sent, room.offset(), room.bytes(), out).ok());
  MessageReader in(out.bytes());
  const std::span<std::byte> still_writable = room.bytes();
  const auto got = receiver.copy(in, account, std::move(room));
  ASSERT_TRUE(got.ok()) << got.error().message();
  std::ranges::fill(still_writable, std::byte{0xFF});
  expect_same(sent, got.value());
  EXPECT_GE(account->held(), 100'000 * sizeof(float));
}

TEST_F(RowMessage, ACopyIsNeverLargerThanTheRoom) {
  // The same bytes named again and again: a sender that wants the memory to run out.
  const Chunk sent = rows({20'000});
  SharedMemory::Piece room = memory->take(account, RowSender::room_for(sent));
  MessageWriter one;
  ASSERT_TRUE(sender.add(sent, room.offset(), room.bytes(), one).ok());
  MessageWriter out;
  out.add(std::uint8_t{1});
  write_structure(Structure::tensor(DType::kFloat32, Shape({kUnknownDim})), out);
  out.add(std::uint64_t{0})
      .add(std::int64_t{1000})
      .add(std::uint64_t{1})
      .add(std::uint8_t{0})
      .add(std::uint8_t{0});
  for (int i = 0; i < 1000; ++i) {
    out.add(DType::kFloat32).add(std::uint64_t{1}).add(std::int64_t{16'384});
    out.add(room.offset()).add(std::uint64_t{65'536});
  }
  MessageReader in(out.bytes());
  const auto got = receiver.copy(in, account, std::move(room));
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message().find("more than its room holds"), std::string::npos);
}

TEST_F(RowMessage, AStructureIsToldOnce) {
  const Chunk sent = rows({1});
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 2; ++i) {
    SharedMemory::Piece room = memory->take(account, RowSender::room_for(sent));
    MessageWriter out;
    ASSERT_TRUE(sender.add(sent, room.offset(), room.bytes(), out).ok());
    sizes.push_back(out.bytes().size());
    MessageReader in(out.bytes());
    const auto got = receiver.view(in, account, *memory, nullptr);
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(show(got.value(), 0), show(sent, 0));
  }
  EXPECT_LT(sizes[1], sizes[0]);
}

TEST_F(RowMessage, ViewsKeepWhatTheyShow) {
  const Chunk sent = rows({5});
  const SharedMemory::Piece room = memory->take(account, RowSender::room_for(sent));
  MessageWriter out;
  ASSERT_TRUE(sender.add(sent, room.offset(), room.bytes(), out).ok());
  MessageReader in(out.bytes());
  const auto keep = std::make_shared<char>();
  Tensor kept;
  {
    const auto got = receiver.view(in, account, *memory, keep);
    ASSERT_TRUE(got.ok());
    kept = got.value().row(0).values[2];
  }
  EXPECT_GT(keep.use_count(), 1);
  kept = Tensor();
  EXPECT_EQ(keep.use_count(), 1);
}

// The rows that a stream over a room of `bytes` takes, and what is said of them.
std::int64_t stream_rows(const Chunk& rows, const SharedMemory::Piece& room, std::int64_t most,
                         RowSender& sender, MessageWriter& out) {
  RowStream stream(room.offset(), room.bytes(), most);
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    if (!stream.add(rows.structure(), rows.row(i).values)) break;
  }
  if (stream.rows() > 0) sender.add(stream, out);
  return stream.rows();
}

TEST_F(RowMessage, RowsOfAStreamArriveAsTheyWere) {
  for (const auto& lengths :
       std::vector<std::vector<std::int64_t>>{{0, 3, 100'000, 1, 40'000, 16'384},
                                              {16'383, 16'384, 1},
                                              {100'000, 3, 50'000},
                                              {1, 2, 3},
                                              {20'000, 20'000}}) {
    const Chunk sent = rows(lengths);
    std::size_t used = 0;
    for (const bool copied : {false, true}) {
      SharedMemory::Piece room = memory->take(account, 2 << 20);
      MessageWriter out;
      ASSERT_EQ(stream_rows(sent, room, sent.rows(), sender, out), sent.rows());
      MessageReader in(out.bytes());
      const auto got = copied ? receiver.copy(in, account, std::move(room))
                              : receiver.own(in, account, std::move(room));
      ASSERT_TRUE(got.ok()) << got.error().message();
      EXPECT_TRUE(in.at_end());
      expect_same(sent, got.value());
      if (copied) {
        EXPECT_EQ(receiver.used(), used);
      }
      used = receiver.used();
      EXPECT_GT(used, 0U);
      EXPECT_LE(used, std::size_t{2} << 20U);
    }
  }
  EXPECT_EQ(account->held(), 0U);
}

TEST_F(RowMessage, AStreamTakesWhatItHasRoomForAndNoMore) {
  const Chunk small = rows({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  const Chunk large = rows({100'000, 100'000, 100'000});
  const auto taken = [&](const Chunk& sent, std::size_t bytes) {
    SharedMemory::Piece room = memory->take(account, bytes);
    RowSender fresh;
    MessageWriter out;
    const std::int64_t many = stream_rows(sent, room, sent.rows(), fresh, out);
    if (many == 0) return many;
    MessageReader in(out.bytes());
    RowReceiver other;
    const auto got = other.own(in, account, std::move(room));
    EXPECT_TRUE(got.ok());
    if (got.ok()) expect_same(sent.slice(0, many), got.value());
    return many;
  };
  EXPECT_EQ(taken(small, 4096), 16);  // four cache lines a row
  EXPECT_EQ(taken(large, 4096), 0);
  EXPECT_EQ(taken(large, std::size_t{1} << 20U), 2);
}

// Every byte of a message is changed, one at a time, and every length is cut: refused, or rows.
TEST_F(RowMessage, ADamagedMessageIsRefusedAndNothingOutsideIsRead) {
  const Chunk sent = rows({3, 20'000, 2});
  const std::size_t bytes = RowSender::room_for(sent) + SharedMemory::kPage;
  MessageWriter whole;
  MessageWriter streamed;
  std::uint64_t offset = 0;
  {
    const SharedMemory::Piece room = memory->take(account, bytes);
    offset = room.offset();
    ASSERT_TRUE(sender.add(sent, room.offset(), room.bytes(), whole).ok());
    RowSender other;
    ASSERT_EQ(stream_rows(rows({20'000, 3}), room, 2, other, streamed), 2);
  }
  const auto read_as = [&](const std::string& message, bool copied) {
    SharedMemory::Piece room = memory->take(account, bytes);
    ASSERT_EQ(room.offset(), offset);
    RowReceiver fresh;
    MessageReader in(message);
    const auto got =
        copied ? fresh.copy(in, account, std::move(room)) : fresh.own(in, account, std::move(room));
    if (!got.ok()) {
      EXPECT_EQ(got.error().kind() == ErrorKind::kBug || got.error().kind() == ErrorKind::kUser ||
                    got.error().kind() == ErrorKind::kData,
                true);
      return;
    }
    for (std::int64_t i = 0; i < std::min<std::int64_t>(got.value().rows(), 3); ++i) {
      EXPECT_FALSE(show(got.value(), i).empty());
    }
  };
  const auto read = [&](const std::string& message) {
    read_as(message, false);
    read_as(message, true);
  };
  for (const std::string& message : {whole.bytes(), streamed.bytes()}) {
    for (std::size_t i = 0; i < message.size(); ++i) {
      for (const char flip : {'\x01', '\x80', '\xff'}) {
        std::string damaged = message;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        read(damaged);
      }
      read(message.substr(0, i));
    }
  }
}

TEST_F(RowMessage, DimensionsThatCannotBeMultipliedAreRefused) {
  MessageWriter out;
  out.add(std::uint8_t{1}).add(std::string_view("")).add(std::uint64_t{0});
  out.add(std::int64_t{1}).add(std::uint64_t{1}).add(std::uint8_t{0}).add(std::uint8_t{0});
  out.add(DType::kFloat32).add(std::uint64_t{3});
  // Their product fits an unsigned number, and no signed one, before the 0 makes it 0.
  out.add(std::int64_t{1} << 32U).add(std::int64_t{1} << 31U).add(std::int64_t{0});
  out.add(std::uint64_t{0}).add(std::uint64_t{0});
  MessageReader in(out.bytes());
  const auto got = receiver.own(in, account, memory->take(account, 1));
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message().find("a dimension"), std::string_view::npos);
}

TEST_F(RowMessage, ADatasetDoesNotTravel) {
  const Chunk sent = Chunk::from_row(
      Structure::dataset(nullptr),
      Row{{Tensor::of_variants({}, std::make_shared<std::vector<VariantPtr>>(1))}, {}});
  SharedMemory::Piece room = memory->take(account, RowSender::room_for(sent));
  MessageWriter out;
  const Status refused = sender.add(sent, room.offset(), room.bytes(), out);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.kind(), ErrorKind::kUser);
}

}  // namespace
}  // namespace spillway
