#include <gmock/gmock.h>

#include "spillway/testing/file_pipelines.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// An int32 that is required, and a string.
ElementPtr defaults() {
  const AccountPtr account = Budget::process().open_account("test");
  const std::string_view word = "none";
  return element(Structure::tuple({Structure::tensor(DType::kInt32, Shape{0}),
                                   Structure::tensor(DType::kString, {})}),
                 {make_tensor(account, DType::kInt32, Shape{0}).value(),
                  make_strings(account, Shape(), {&word, 1}).value()});
}

TEST(CsvRowsOperator, ReadsFilesOneAfterTheOtherAndGoesOnBehindABadRecord) {
  const TemporaryFolder folder;
  const auto paths =
      files({folder.write("a", "n,s\n1,one\nx,two\n3,\"a\nb\"\n\n"), folder.write("b", ""),
             folder.path(), folder.write("c", "n,s\r\n4,\r\n5,five")});
  check_operator(
      {.build =
           [=] {
             return node("csv_rows",
                         {{"filenames", paths}, {"record_defaults", defaults()}, {"header", true}});
           },
       .expect = {"(1, 'one')", "!INVALID_ARGUMENT", "(3, 'a\nb')", "!INVALID_ARGUMENT",
                  "!INVALID_ARGUMENT", "!FAILED_PRECONDITION", "(4, 'none')", "(5, 'five')"}});
}

TEST(CsvRowsOperator, RefusesColumnsThatCannotBe) {
  const auto refusal = [](const std::string& name, const Value& value) {
    const auto made = try_node(
        "csv_rows", {{"filenames", files({"a"})}, {"record_defaults", defaults()}, {name, value}});
    return made.ok() ? std::string() : std::string(made.error().message());
  };
  const auto fields = [](std::vector<std::int64_t> numbers) {
    auto list = std::make_shared<ValueList>();
    for (const std::int64_t n : numbers) list->items.emplace_back(n);
    return Value(std::shared_ptr<const ValueList>(list));
  };
  EXPECT_THAT(refusal("field_delim", std::string(",,")), EndsWith("should be only 1 char"));
  EXPECT_THAT(refusal("buffer_size", std::int64_t{0}), EndsWith("buffer_size should be positive"));
  EXPECT_THAT(refusal("compression_type", std::string("X")),
              HasSubstr("Unsupported compression_type: X"));
  EXPECT_THAT(refusal("select_cols", fields({1})),
              EndsWith("select_cols should match output size"));
  EXPECT_THAT(refusal("select_cols", fields({1, 1})),
              EndsWith("select_cols should be strictly increasing indices"));
  EXPECT_THAT(refusal("exclude_cols", fields({-1})),
              EndsWith("exclude_cols should be non-negative indices"));
}

}  // namespace
}  // namespace spillway::testing
