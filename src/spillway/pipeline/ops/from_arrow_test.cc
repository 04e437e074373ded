#include <gmock/gmock.h>

#include "spillway/pipeline/arrow_source.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

using arrow::Array;
using arrow::Schema;
using ::testing::HasSubstr;

// What a producer keeps behind an array of struct<s: string, x: int64>, whose row `null` has no x.
struct Rows {
  Rows(std::int64_t begin, std::int64_t count, std::int64_t null) {
    for (std::int64_t i = begin; i < begin + count; ++i) {
      numbers.push_back(i);
      text += std::to_string(i);
      offsets.push_back(static_cast<std::int32_t>(text.size()));
      const auto at = static_cast<std::size_t>(i - begin);
      valid.resize(at / 8 + 1);
      if (i != null) valid[at / 8] |= static_cast<std::uint8_t>(1U << (at % 8));
    }
    const bool all = null < begin || null >= begin + count;
    number_buffers = {all ? nullptr : valid.data(), numbers.data()};
    text_buffers = {nullptr, offsets.data(), text.data()};
    number = array(count, all ? 0 : 1, 2, number_buffers.data());
    words = array(count, 0, 3, text_buffers.data());
  }
  static Array array(std::int64_t length, std::int64_t nulls, std::int64_t buffers,
                     const void** data) {
    return {length, nulls, 0, buffers, 0, data, nullptr, nullptr, [](Array*) {}, nullptr};
  }

  std::vector<std::int64_t> numbers;
  std::vector<std::uint8_t> valid;
  std::string text;
  std::vector<std::int32_t> offsets = {0};
  std::vector<const void*> number_buffers;
  std::vector<const void*> text_buffers;
  const void* nothing = nullptr;
  Array number{};
  Array words{};
  std::vector<Array*> children = {&words, &number};
};

std::atomic<int> held = 0;  // arrays that were handed out and not released

// Batches of 3 rows up to `stop`; then an error if it is `broken`.
struct Counting {
  std::int64_t at = 0;
  std::int64_t stop = 0;
  std::int64_t null = -1;
  bool broken = false;
};

int next_batch(arrow::Stream* stream, Array* out) {
  auto& from = *static_cast<Counting*>(stream->private_data);
  *out = {};
  if (from.at >= from.stop) return from.broken ? EIO : 0;
  const std::int64_t count = std::min<std::int64_t>(3, from.stop - from.at);
  auto rows = std::make_unique<Rows>(from.at, count, from.null);
  from.at += count;
  *out = Rows::array(count, 0, 1, &rows->nothing);
  out->n_children = 2;
  out->children = rows->children.data();
  out->private_data = rows.release();
  out->release = [](Array* array) {
    delete static_cast<Rows*>(array->private_data);
    array->release = nullptr;
    --held;
  };
  ++held;
  return 0;
}

int schema_of(arrow::Stream*, Schema* out) {
  static Schema word{"u", "s", nullptr, 0, 0, nullptr, nullptr, [](Schema*) {}, nullptr};
  static Schema number{"l", "x", nullptr, 0, 0, nullptr, nullptr, [](Schema*) {}, nullptr};
  static Schema* children[] = {&word, &number};
  *out = {"+s",   "",       nullptr, 0,
          2,      children, nullptr, [](Schema* schema) { schema->release = nullptr; },
          nullptr};
  return 0;
}

class CountingSource final : public ArrowSource {
 public:
  explicit CountingSource(std::vector<Counting> parts) : parts_(std::move(parts)) {}
  std::size_t parts() const override { return parts_.size(); }
  std::string file(std::size_t part) const override { return "part " + std::to_string(part); }
  std::string describe() const override { return "counting"; }

 protected:
  Result<Stream> ask(std::size_t part, std::int64_t& /*skip*/) override {
    arrow::Stream raw{schema_of, next_batch, [](arrow::Stream*) { return "the disk is gone"; },
                      [](arrow::Stream* stream) {
                        delete static_cast<Counting*>(stream->private_data);
                        stream->release = nullptr;
                      },
                      new Counting(parts_[part])};
    Stream stream;
    stream.take(raw);
    return stream;
  }

 private:
  const std::vector<Counting> parts_;
};

NodePtr counted(const std::vector<Counting>& parts, const std::string& nulls = "error") {
  auto source = std::make_shared<CountingSource>(parts);
  const auto type = source->type();
  EXPECT_TRUE(type.ok());
  return node("from_arrow", {{"source", ObjectPtr(source)},
                             {"output_signature", type.value()->structure()},
                             {"nulls", nulls}});
}

TEST(FromArrow, ReadsStreamsOneAfterTheOtherAndANullOrABrokenStreamIsAnErrorInItsPlace) {
  check_operator({.build =
                      [] {
                        return counted({{.stop = 4, .broken = true},
                                        {.stop = 0},
                                        {.at = 4, .stop = 8, .null = 5}});
                      },
                  .expect = {"{s: '0', x: 0}", "{s: '1', x: 1}", "{s: '2', x: 2}", "{s: '3', x: 3}",
                             "!DATA_LOSS", "{s: '4', x: 4}", "!INVALID_ARGUMENT", "{s: '6', x: 6}",
                             "{s: '7', x: 7}"}});
  EXPECT_EQ(held.load(), 0);
}

TEST(FromArrow, FillsNullsWhereItIsTold) {
  EXPECT_EQ(elements(counted({{.stop = 2, .null = 1}}, "fill")),
            (std::vector<std::string>{"{s: '0', x: 0}", "{s: '1', x: 0}"}));
}

TEST(FromArrow, ANullNamesItsColumnAndRow) {
  const Opened opened = open(counted({{.stop = 4, .null = 3}}), Budget::process());
  (void)drain(*opened.it, Demand{3}, 1);
  const Next next = opened.it->next(Demand{1});
  ASSERT_FALSE(next.ok());
  EXPECT_THAT(std::string(next.error().message()), HasSubstr("column x must have a value: row 3"));
  EXPECT_EQ(next.error().info().file, "part 0");
}

TEST(FromArrow, ShowsNumbersWhereTheyLieAndKeepsTheirBatchUntilTheyAreGone) {
  std::optional<Chunk> kept;
  {
    const Opened opened = open(counted({{.stop = 3}}), Budget::process());
    kept = opened.it->next(Demand{3}).value();
  }
  EXPECT_EQ(held.load(), 1);
  EXPECT_TRUE(kept->columns()[1].block().buffer()->adopted());
  EXPECT_EQ(kept->columns()[1].block().as<std::int64_t>()[2], 2);
  kept.reset();
  EXPECT_EQ(held.load(), 0);
}

TEST(FromArrow, AMalformedArrayIsRefused) {
  const arrow::Type type = [] {
    arrow::Owned<Schema> schema;
    (void)schema_of(nullptr, schema.get());
    return arrow::type_of(*schema).value();
  }();
  Rows rows(0, 3, -1);
  Array batch = Rows::array(3, 0, 1, &rows.nothing);
  batch.n_children = 2;
  batch.children = rows.children.data();
  EXPECT_TRUE(check_array(type, batch).ok());
  rows.offsets[2] = 0;
  EXPECT_THAT(std::string(check_array(type, batch).message()), HasSubstr("offsets must not fall"));
  rows.offsets[2] = 2;
  rows.number.length = 2;
  EXPECT_THAT(std::string(check_array(type, batch).message()),
              HasSubstr("expected 3 rows, found 2"));
  rows.number.length = 3;
  rows.number.n_buffers = 1;
  EXPECT_THAT(std::string(check_array(type, batch).message()), HasSubstr("expected 2 buffers"));
  batch.n_children = 1;
  EXPECT_THAT(std::string(check_array(type, batch).message()), HasSubstr("expected 2 children"));
}

}  // namespace
}  // namespace spillway::testing
