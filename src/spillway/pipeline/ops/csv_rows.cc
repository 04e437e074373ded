#include <algorithm>

#include "spillway/io/formats/csv.h"
#include "spillway/pipeline/file_rows.h"

namespace spillway {
namespace {

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64,
                            DType::kString};

Status check_default(const Tensor& value, std::size_t field) {
  if (std::ranges::find(kTypes, value.dtype()) == std::end(kTypes)) {
    return invalid_argument("Value for attr 'output_types' of ", name_of(value.dtype()),
                            " is not in the list of allowed values: float, double, int32, int64, "
                            "string");
  }
  if (value.shape().rank() > 1) {
    return invalid_argument("Each record default should be at most rank 1");
  }
  if (value.count() > 1) {
    return invalid_argument("There should only be 1 default per field but field ", field, " has ",
                            value.count());
  }
  return {};
}

Status check_fields(const std::vector<std::int64_t>& fields, std::string_view name) {
  if (std::ranges::adjacent_find(fields, std::greater_equal()) != fields.end()) {
    return invalid_argument(name, " should be strictly increasing indices");
  }
  if (!fields.empty() && fields.front() < 0) {
    return invalid_argument(name, " should be non-negative indices");
  }
  return {};
}

// By the parameters; refused in TensorFlow's words.
Result<std::shared_ptr<const CsvFormat>> format_of(const Node& node) {
  auto format = std::make_shared<CsvFormat>();
  const ElementPtr defaults = node.element_param("record_defaults");
  if (defaults == nullptr || defaults->values.empty()) {
    return invalid_argument("csv_rows: record_defaults must have a default for each field");
  }
  for (const Tensor& value : defaults->values) {
    SW_RETURN_IF_ERROR(check_default(value, format->columns.size()));
    format->columns.push_back({value.dtype(), value});
  }
  const std::string delimiter = node.string_param("field_delim", ",");
  if (delimiter.size() != 1) return invalid_argument("field_delim should be only 1 char");
  format->delimiter = delimiter[0];
  format->select = node.ints_param("select_cols");
  format->exclude = node.ints_param("exclude_cols");
  if (!format->select.empty() && format->select.size() != format->columns.size()) {
    return invalid_argument("select_cols should match output size");
  }
  SW_RETURN_IF_ERROR(check_fields(format->select, "select_cols"));
  if (!format->select.empty() && !format->exclude.empty()) {
    return invalid_argument("Either select_cols or exclude_cols should be empty");
  }
  SW_RETURN_IF_ERROR(check_fields(format->exclude, "exclude_cols"));
  format->quotes = node.bool_param("use_quote_delim", true);
  format->header = node.bool_param("header", false);
  format->na_value = node.string_param("na_value", "");
  return std::shared_ptr<const CsvFormat>(std::move(format));
}

Result<Inferred> infer(const Node& node) {
  if (node.int_param("buffer_size", 1) <= 0) {
    return invalid_argument("buffer_size should be positive");
  }
  SW_RETURN_IF_ERROR(infer_file_rows(node).status());
  SW_ASSIGN(const auto format, format_of(node));
  std::vector<StructurePtr> columns;
  for (const CsvFormat::Column& column : format->columns) {
    columns.push_back(Structure::tensor(column.dtype, {}));
  }
  return Inferred{Structure::tuple(std::move(columns)), kUnknownCount};
}

constexpr ParamDef kParams[] = {
    kFilesParam,
    {"record_defaults", ParamType::kElement, "",
     "a tuple: for each column what an empty field means, or an empty array of its type where "
     "there "
     "must be none"},
    kCompressionParam,
    kBufferParam,
    {"header", ParamType::kBool, "False", "the first record of each file is none"},
    {"field_delim", ParamType::kString, "','", "what stands between fields"},
    {"use_quote_delim", ParamType::kBool, "True", "fields may stand in quotes"},
    {"na_value", ParamType::kString, "''", "means an empty field, too"},
    {"select_cols", ParamType::kInts, "None", "the fields that become columns, in order"},
    {"exclude_cols", ParamType::kInts, "None", "those that do not"}};

}  // namespace

extern constexpr OperatorDef csv_rows_operator{
    .name = "csv_rows",
    .summary = "The records of CSV files as tuples of numbers and strings.",
    .example =
        ">>> import pathlib, tempfile\n"
        ">>> path = pathlib.Path(tempfile.mkdtemp()) / 'a.csv'\n"
        ">>> _ = path.write_text('1,one\\n,two\\n')\n"
        ">>> [(int(n), s) for n, s in sw.Dataset.csv_rows(str(path), ([-1], ['']))]\n"
        "[(1, b'one'), (-1, b'two')]",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(auto format, format_of(context.node()));
      const auto read = [format](std::unique_ptr<ByteStream> stream) {
        return read_csv(std::move(stream), format);
      };
      return open_file_rows(context, ReadRows(read), true);
    }};

}  // namespace spillway
