#include "spillway/io/formats/csv.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"

// The expected records and messages are TensorFlow 2.21's CsvDataset's.
namespace spillway::testing {
namespace {

using Lines = std::vector<std::string>;

AccountPtr account() {
  static const AccountPtr& all = *new AccountPtr(Budget::process().open_account("csv test"));
  return all;
}

CsvFormat::Column number(DType dtype, bool required = false) {
  Tensor fallback = make_tensor(account(), dtype, Shape{required ? 0 : 1}).value();
  std::fill_n(fallback.mutable_data(), fallback.bytes(), std::byte{0});
  return {dtype, fallback};
}
CsvFormat::Column word(std::string_view fallback = "d") {
  return {DType::kString, make_strings(account(), Shape{1}, {&fallback, 1}).value()};
}
CsvFormat words(int n) {
  CsvFormat format;
  for (int i = 0; i < n; ++i) format.columns.push_back(word());
  return format;
}

std::string shown(const Tensor& column, std::int64_t row) {
  switch (column.dtype()) {
    case DType::kFloat32:
      return std::to_string(column.as<float>()[row]);
    case DType::kFloat64:
      return std::to_string(column.as<double>()[row]);
    case DType::kInt32:
      return std::to_string(column.as<std::int32_t>()[row]);
    case DType::kInt64:
      return std::to_string(column.as<std::int64_t>()[row]);
    default:
      return std::string(column.string_at(row));
  }
}

struct Way {
  std::size_t piece = SIZE_MAX;
  std::size_t buffer = 0;
  std::int64_t rows = 100;
  std::uint64_t from = 0;
  Compression compression = Compression::kNone;
};

// A line a record, '|' behind each field; "!offset: message" for one that is wrong, and "@n" for
// the position behind, where it is asked for.
Lines records(const CsvFormat& format, const std::string& content, const Way& way = {},
              std::vector<std::uint64_t>* positions = nullptr) {
  auto reader = read_csv(stream_of({content, way.piece}, way.compression, way.buffer),
                         std::make_shared<CsvFormat>(format))
                    .value();
  if (way.from > 0) {
    EXPECT_TRUE(reader->seek(way.from).ok());
  }
  Lines out;
  for (bool more = true; more;) {
    RowBlock block;
    const auto read = reader->read_rows(account(), way.rows, 1 << 16, block);
    for (std::int64_t row = 0; row < block.count; ++row) {
      std::string& line = out.emplace_back();
      for (const Tensor& column : block.columns) line += shown(column, row) + "|";
    }
    if (!read.ok()) {
      const ErrorInfo& info = read.error().info();
      EXPECT_EQ(info.file, "memory.file");
      out.push_back("!" + std::to_string(info.offset) + ": " + info.message);
      const auto found = reader->resynchronise();
      more = found.ok() && found.value();
    } else {
      more = read.value();
    }
    if (positions != nullptr) positions->push_back(reader->position());
  }
  return out;
}

TEST(Csv, CutsRecordsAtEveryKindOfLineEnd) {
  EXPECT_EQ(records(words(2), "a,b\nc,d\r\ne,f\rg,h"), (Lines{"a|b|", "c|d|", "e|f|", "g|h|"}));
  EXPECT_EQ(records(words(1), "a\n\n\r\nb"), (Lines{"a|", "d|", "d|", "b|"}));
  EXPECT_EQ(records(words(2), "a,\n,"), (Lines{"a|d|", "d|d|"}));
  EXPECT_TRUE(records(words(1), "").empty());
  EXPECT_EQ(records(words(1), "\r"), Lines{"d|"});
  EXPECT_EQ(records(words(1),
                    "\xef\xbb\xbf"
                    "a"),
            Lines{"\xef\xbb\xbf"
                  "a|"});
}

TEST(Csv, TakesFieldsOutOfTheirQuotes) {
  EXPECT_EQ(records(words(2), "\"a,\n\",\"b\"\"c\"\r\n\"\",\"\"\"\"\n"),
            (Lines{"a,\n|b\"c|", "d|\"|"}));
  CsvFormat plain = words(2);
  plain.quotes = false;
  EXPECT_EQ(records(plain, "\"a,b\"\n"), Lines{"\"a|b\"|"});
  CsvFormat other = words(2);
  other.delimiter = '\t';
  EXPECT_EQ(records(other, "a,\tb"), Lines{"a,|b|"});
}

TEST(Csv, ConvertsNumbersAndTakesDefaults) {
  CsvFormat format;
  format.columns = {number(DType::kInt32), number(DType::kFloat32), number(DType::kInt64),
                    number(DType::kFloat64), word()};
  format.na_value = "N\"A";
  EXPECT_EQ(
      records(format, "1, 2.5 ,-3,\"4\",x\n,,,,\n\"N\"\"A\",1,1,1,\"N\"\"A\"\n"),
      (Lines{"1|2.500000|-3|4.000000|x|", "0|0.000000|0|0.000000|d|", "0|1.000000|1|1.000000|d|"}));
}

TEST(Csv, PassesTheHeaderOfEachFile) {
  CsvFormat format = words(2);
  format.header = true;
  EXPECT_EQ(records(format, "\"x\ny\",z,w\na,b\n"), Lines{"a|b|"});
  EXPECT_EQ(records(format, ""),
            Lines{"!0: memory.file: line 1: Can't read header of file: the file is empty"});
  EXPECT_EQ(
      records(format, "x\"y,z\na,b\n"),
      (Lines{"!0: memory.file: line 1: Can't read header of file: Unquoted fields cannot have "
             "quotes inside",
             "a|b|"}));
}

TEST(Csv, TakesTheColumnsThatAreWanted) {
  CsvFormat format = words(2);
  format.select = {1, 3};
  EXPECT_EQ(records(format, "a,b,c,e,f\na,b\n"),
            (Lines{"b|e|", "!10: memory.file: line 2: Expect 2 fields but have 1 in record"}));
  format.select.clear();
  format.exclude = {0, 2, 1'000'000'000'000};
  EXPECT_EQ(records(format, "a,b,c,e\na,b,c,e,f\n"),
            (Lines{"b|e|", "!16: memory.file: line 2: Expect 2 fields but have more in record"}));
}

TEST(Csv, AnErrorNamesLineOffsetFieldExpectedAndFoundAndTheNextRecordFollows) {
  CsvFormat format;
  format.columns = {number(DType::kInt32), number(DType::kFloat32, true)};
  EXPECT_EQ(
      records(format,
              "1,1\n\"2\",x\n3,\n\r\n4,1,1\n5,\"1\"x\"\n6,1\"\"\n9999999999,1\n7,1\n8,\"1\n"),
      (Lines{"1|1.000000|", "!8: memory.file: line 2: Field 1 in record is not a valid float: x",
             "!12: memory.file: line 3: Field 1 is required but missing in record!",
             "!13: memory.file: line 4: Expect 2 fields but have 1 in record",
             "!19: memory.file: line 5: Expect 2 fields but have more in record",
             std::string("!23: memory.file: line 6: Quote inside a string has to be escaped by ") +
                 "another quote",
             "!31: memory.file: line 7: Unquoted fields cannot have quotes inside",
             "!35: memory.file: line 8: Field 0 in record is not a valid int32: 9999999999",
             "7|1.000000|",
             std::string("!54: memory.file: line 10: Reached end of file without closing quoted ") +
                 "field in record"}));
  const auto longer = records(format, std::string(1000, 'x') + ",1\n");
  ASSERT_EQ(longer.size(), 1U);
  EXPECT_TRUE(longer[0].ends_with(": " + std::string(100, 'x') + "...")) << longer[0];
}

TEST(Csv, ReadsTheSameInPiecesOfAnySizeAndFromEveryPosition) {
  CsvFormat format = words(2);
  format.columns.push_back(number(DType::kInt64));
  const std::string wide(700, 'w');
  const std::string content = "a,b,1\r\n\"x\r\ny\",\"" + wide + "\"\"\",2\r\r\n\"c\",d,z\n" + wide +
                              "," + wide + ",3\ne,f\n\"g\"h\",i,4\nj,k,5\r\nl,m,6";
  const Lines expect = records(format, content);
  ASSERT_EQ(expect.size(), 9U);
  EXPECT_NE(expect[3].find("line 5: Field 2 in record is not a valid int64: z"), std::string::npos)
      << expect[3];
  for (const std::int64_t rows : {1, 2, 100}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{64}, SIZE_MAX}) {
      EXPECT_EQ(records(format, content, {.piece = piece, .buffer = 256, .rows = rows}), expect);
    }
  }
  for (const Packed how : {Packed::kGzip, Packed::kZlib}) {
    const auto kind = how == Packed::kGzip ? Compression::kGzip : Compression::kZlib;
    EXPECT_EQ(records(format, compressed(content, how), {.compression = kind}), expect);
    EXPECT_EQ(records(format, compressed(content, how), {.from = 7, .compression = kind}),
              Lines(expect.begin() + 1, expect.end()));
  }
  std::vector<std::uint64_t> positions;
  (void)records(format, content, {.rows = 1}, &positions);
  for (std::size_t i = 0; i + 1 < expect.size(); ++i) {
    EXPECT_EQ(records(format, content, {.from = positions[i]}),
              Lines(expect.begin() + static_cast<std::ptrdiff_t>(i) + 1, expect.end()))
        << i;
  }
}

TEST(Csv, ARecordThatDoesNotFitIsRefusedWithItsOffset) {
  Budget budget(std::size_t{1} << 20U);
  const AccountPtr small = budget.open_account("small");
  const std::string content = "a,b\nc,\"" + std::string(std::size_t{4} << 20U, 'x') + "\"\n";
  auto stream = ByteStream::open(file_of({content}), Compression::kNone, small).value();
  auto reader = read_csv(std::move(stream), std::make_shared<CsvFormat>(words(2))).value();
  RowBlock block;
  const auto read = reader->read_rows(small, 100, 1 << 16, block);
  EXPECT_EQ(block.count, 1);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), Code::kResourceExhausted);
  EXPECT_EQ(read.error().info().offset, 4);
  EXPECT_EQ(read.error().message().find("memory.file: the element at byte 4"), 0U)
      << read.error().message();
}

}  // namespace
}  // namespace spillway::testing
