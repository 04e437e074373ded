#include "spillway/io/formats/npz.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"
#include "spillway/testing/zip_archives.h"

namespace spillway::testing {
namespace {

AccountPtr account() { return Budget::process().open_account("test"); }

std::string npy(const std::string& descr, const std::string& order, const std::string& shape,
                const std::string& data) {
  std::string dictionary =
      "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  dictionary.resize(117, ' ');
  return std::string("\x93NUMPY\x01\0\x76\0", 10) + dictionary + "\n" + data;
}
std::string bytes_array(std::size_t rows) {
  return npy("'|u1'", "False", "(" + std::to_string(rows) + ",)", std::string(rows, 'x'));
}

TEST(Npz, NamesItsArraysAndOpensThem) {
  ZipArchive archive;
  archive.add("x.npy", bytes_array(5));
  archive.add("y.npy", bytes_array(700), true);
  const FilePtr file = file_of({archive.finished()});
  EXPECT_EQ(npz_names(*file, account()).value(), (std::vector<std::string>{"x", "y"}));
  const NpyArray y = open_npz(file, "y", account()).value();
  EXPECT_EQ(y.header.rows(), 700);
  EXPECT_EQ(y.file->path(), "memory.file:y.npy");
  std::string out(700, '\0');
  ASSERT_TRUE(
      read_npy_rows(*y.file, y.header, 0, 700, reinterpret_cast<std::byte*>(out.data()), account())
          .ok());
  EXPECT_EQ(out, std::string(700, 'x'));
}

struct Refusal {
  std::string name;
  std::string content;
  std::string says;
};

TEST(Npz, SaysWhichArrayItRefusesAndWhy) {
  const std::vector<Refusal> all = {
      {"x.npy", bytes_array(5) + "more", "uint8 (5,) takes 133 bytes: expected as many, found 137"},
      {"x.npy", bytes_array(5).substr(0, 130), "the file is too short for uint8 (5,)"},
      {"x.npy", npy("'|O'", "False", "(1,)", "pickle"), "nothing is unpickled"},
      {"x.npy", npy("'|u1'", "False", "()", "x"), "an array without dimensions has no rows"},
      {"x.npy", npy("'|u1'", "True", "(2, 2)", "abcd"), "must be in C order, found Fortran's"},
      {"x.npy", npy("'|u1'", "False", "(9223372036854775807, 9)", "abcd"), "too short"},
      {"z.npy", bytes_array(5), "expected one array 'x', found z.npy"},
      {"x", bytes_array(5), "expected one array 'x', found x"},
  };
  for (const Refusal& refusal : all) {
    ZipArchive archive;
    archive.add(refusal.name, refusal.content, true);
    const auto opened = open_npz(file_of({archive.finished()}), "x", account());
    ASSERT_FALSE(opened.ok()) << refusal.says;
    EXPECT_NE(opened.error().message().find(refusal.says), std::string_view::npos)
        << opened.error().message();
    EXPECT_TRUE(opened.error().info().file.starts_with("memory.file"));
  }
}

TEST(Npz, AStoredArrayMayBeInFortransOrder) {
  ZipArchive archive;
  archive.add("x.npy", npy("'|u1'", "True", "(2, 2)", "abcd"));
  EXPECT_TRUE(open_npz(file_of({archive.finished()}), "x", account()).ok());
}

TEST(Npz, OtherMembersAndNamesThatAreThereTwiceAreRefused) {
  ZipArchive archive;
  archive.add("x.npy", bytes_array(5));
  archive.add("readme.txt", "hello");
  EXPECT_NE(npz_names(*file_of({archive.finished()}), account())
                .error()
                .message()
                .find("expected arrays (NAME.npy), found 'readme.txt'"),
            std::string_view::npos);
  ZipArchive twice;
  twice.add("x.npy", bytes_array(5));
  twice.add("x.npy", bytes_array(6));
  EXPECT_NE(npz_names(*file_of({twice.finished()}), account()).error().message().find("twice"),
            std::string_view::npos);
  EXPECT_FALSE(open_npz(file_of({twice.finished()}), "x", account()).ok());
}

}  // namespace
}  // namespace spillway::testing
