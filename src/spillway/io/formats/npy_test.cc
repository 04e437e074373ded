#include "spillway/io/formats/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  const auto length = static_cast<std::uint32_t>(dictionary.size() + 1);
  out.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return out + dictionary + "\n" + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
}

template <class T>
std::vector<T> rows_of(const std::string& content, std::int64_t first, std::int64_t rows) {
  const FilePtr file = file_of({content, 7});
  const auto header = read_npy_header(*file);
  if (!header.ok()) {
    ADD_FAILURE() << header.error().message();
    return {};
  }
  std::vector<T> out(static_cast<std::size_t>(rows) * header.value().row_bytes() / sizeof(T));
  const Status read =
      read_npy_rows(*file, header.value(), first, rows, reinterpret_cast<std::byte*>(out.data()),
                    Budget::process().open_account("test"));
  EXPECT_TRUE(read.ok()) << read.message();
  return out;
}

const std::vector<std::int32_t> kItems = {0, 1, 2, 10, 11, 12, 20, 21, 22};

TEST(Npy, ReadsAnyRows) {
  const std::string content =
      npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 3), }", bytes_of(kItems));
  EXPECT_EQ(rows_of<std::int32_t>(content, 0, 3), kItems);
  EXPECT_EQ(rows_of<std::int32_t>(content, 1, 1), (std::vector<std::int32_t>{10, 11, 12}));
  for (const char version : {'\2', '\3'}) {
    EXPECT_EQ(rows_of<std::int32_t>(npy("{\"shape\": (3L,3L), 'descr':'<i4',"
                                        "'fortran_order':False}",
                                        bytes_of(kItems), version),
                                    0, 3),
              kItems);
  }
}

TEST(Npy, TurnsColumnsIntoRows) {
  // (3, 3) and (2, 2, 2) with the first index fastest.
  EXPECT_EQ(
      rows_of<std::int32_t>(
          npy("{'descr': '<i4', 'fortran_order': True, 'shape': (3, 3)}", bytes_of(kItems)), 1, 2),
      (std::vector<std::int32_t>{1, 11, 21, 2, 12, 22}));
  EXPECT_EQ(rows_of<std::int8_t>(npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2, 3)}",
                                     bytes_of<std::int8_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})),
                                 0, 2),
            (std::vector<std::int8_t>{0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11}));
}

TEST(Npy, TurnsBytesAround) {
  EXPECT_EQ(rows_of<std::int16_t>(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}",
                                      std::string("\1\2\3\4", 4)),
                                  0, 2),
            (std::vector<std::int16_t>{0x102, 0x304}));
  EXPECT_EQ(rows_of<std::uint32_t>(npy("{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}",
                                       std::string("\1\2\3\4\5\6\7\10", 8)),
                                   0, 1),
            (std::vector<std::uint32_t>{0x01020304, 0x05060708}));
}

TEST(Npy, RefusesWhatItCannotBeAndSaysWhatItFound) {
  const auto message = [](const std::string& content) {
    const auto header = read_npy_header(*file_of({content}));
    EXPECT_FALSE(header.ok());
    if (header.ok()) return std::string();
    EXPECT_EQ(header.error().info().file, "memory.file");
    return std::string(header.error().message());
  };
  const auto of = [&](const std::string& descr, const std::string& shape) {
    return message(npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}",
                       std::string(8, 'x')));
  };
  EXPECT_NE(of("'|O'", "(1,)").find("nothing is unpickled"), std::string::npos);
  EXPECT_NE(of("'<U3'", "(1,)").find("must be numbers or bools: descr <U3"), std::string::npos);
  EXPECT_NE(of("[('a', '<i4')]", "(1,)").find("descr [('a'"), std::string::npos);
  EXPECT_NE(of("'<f4'", "()").find("without dimensions"), std::string::npos);
  EXPECT_NE(of("'<f4'", "(3,)").find("expected 78 bytes, found 74"), std::string::npos)
      << of("'<f4'", "(3,)");
  EXPECT_NE(of("'<f4'", "(-1,)").find("tuple of sizes"), std::string::npos);
  EXPECT_NE(of("'<f8'", "(4611686018427387904, 8)").find("too short"), std::string::npos);
  EXPECT_NE(of("'<f8'", "__import__('os')").find("tuple of sizes"), std::string::npos);
  EXPECT_NE(message("").find("not an .npy file"), std::string::npos);
  EXPECT_NE(message("\x93NUMPY\x09").find("not an .npy"), std::string::npos);
  EXPECT_NE(message(std::string("\x93NUMPY\x01\0\xff\xff", 10)).find("does not fit"),
            std::string::npos);
}

TEST(Npy, EveryTruncationIsSeen) {
  const std::string content =
      npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 3), }", bytes_of(kItems));
  for (std::size_t end = 0; end < content.size(); ++end) {
    EXPECT_FALSE(read_npy_header(*file_of({content.substr(0, end)})).ok()) << end;
  }
}

}  // namespace
}  // namespace spillway::testing
