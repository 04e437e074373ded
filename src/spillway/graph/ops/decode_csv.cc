#include "spillway/base/parse_number.h"
#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

using Numbers = Types<float, double, std::int32_t, std::int64_t>;
using Ints = std::vector<std::int64_t>;

// The fields of a record one after the other, as TensorFlow cuts them.
class Record {
 public:
  Record(std::string_view text, char delimiter, bool quotes)
      : text_(text), delimiter_(delimiter), quotes_(quotes) {}

  // False: no more fields.
  bool more() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    if (at_ < text_.size()) return true;
    const bool empty_last = !last_given_ && !text_.empty() && text_.back() == delimiter_;
    last_given_ = true;
    return empty_last;
  }
  Status next(std::string& field) {
    field.clear();
    if (at_ >= text_.size()) return {};
    if (!quotes_ || text_[at_] != '"') return plain(field);
    ++at_;
    return quoted(field);
  }

 private:
  Status plain(std::string& field) {
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] != delimiter_; ++at_) {
      const char c = text_[at_];
      if ((quotes_ && c == '"') || c == '\n' || c == '\r') {
        return bad_data(Code::kInvalidArgument, "Unquoted fields cannot have quotes/CRLFs inside");
      }
    }
    field = text_.substr(begin, at_ - begin);
    ++at_;
    return {};
  }
  Status quoted(std::string& field) {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] != '"') {
        field += text_[at_];
        continue;
      }
      const bool last = at_ + 1 == text_.size();
      if (last || text_[at_ + 1] == delimiter_) {
        at_ += 2;
        return {};
      }
      ++at_;
      if (text_[at_] != '"') {
        return bad_data(Code::kInvalidArgument,
                        "Quote inside a string has to be escaped by another quote");
      }
      field += '"';
    }
    return bad_data(Code::kInvalidArgument,
                    "Quoted field has to end with quote followed by delim or end");
  }

  std::string_view text_;
  char delimiter_;
  bool quotes_;
  std::size_t at_ = 0;
  bool last_given_ = false;
};

// A column while it grows.
struct Column {
  DType dtype = DType::kString;
  Tensor fallback;  // of no items: the field is required
  Tensor numbers;
  StringRun strings{0};
};

Status missing(std::size_t field, std::int64_t record) {
  return bad_data(Code::kInvalidArgument, "Field ", field, " is required but missing in record ",
                  record, "!");
}

Status store(Column& column, std::string_view text, bool given, std::size_t field,
             std::int64_t record) {
  if (!given && column.fallback.count() != 1) return missing(field, record);
  if (column.dtype == DType::kString) {
    column.strings.add(given ? text : column.fallback.string_at(0));
    return {};
  }
  bool ok = true;
  with_type(Numbers(), column.dtype, [&]<class T>() {
    const std::optional<T> value = given ? parse_number<T>(text) : column.fallback.as<T>()[0];
    ok = value.has_value();
    if (ok) reinterpret_cast<T*>(column.numbers.mutable_data())[record] = *value;
  });
  if (ok) return {};
  const std::string_view type = column.dtype == DType::kFloat32   ? "float"
                                : column.dtype == DType::kFloat64 ? "double"
                                                                  : name_of(column.dtype);
  return bad_data(Code::kInvalidArgument, "Field ", field, " in record ", record,
                  " is not a valid ", type, ": ", text);
}

Status check_columns(const Infer& c) {
  const auto* wanted = c.attrs().get<Ints>("select_cols");
  if (wanted == nullptr) return {};
  if (wanted->size() != static_cast<std::size_t>(c.inputs()) - 1) {
    return invalid_argument("Length of select_cols and record_defaults do not match.");
  }
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    if ((*wanted)[i] < 0) return invalid_argument("select_cols contains negative values.");
    if (i > 0 && (*wanted)[i] <= (*wanted)[i - 1]) {
      return invalid_argument("select_cols is not strictly increasing.");
    }
  }
  return {};
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  if (c.inputs() < 2) return invalid_argument("needs a default for each field");
  if (c.attrs().get_or("field_delim", std::string(",")).size() != 1) {
    return invalid_argument("field_delim should be only 1 char");
  }
  SW_RETURN_IF_ERROR(check_columns(c));
  for (int i = 1; i < c.inputs(); ++i) {
    const auto& [dtype, shape] = c.input(i);
    if (!is_one_of(Numbers(), dtype) && dtype != DType::kString) return no_kernel(dtype);
    if (shape.has_rank() && shape.rank() > 1) {
      return invalid_argument("Each record default should be at most rank 1");
    }
    if (shape.has_rank() && shape.rank() == 1 && shape[0] > 1) {
      return invalid_argument("There should only be 1 default per field but field ", i - 1, " has ",
                              shape[0]);
    }
    c.set(i - 1, dtype, c.input(0).shape);
  }
  return {};
}

Status compute(Compute& c) {
  const Tensor& records = c.inputs[0];
  const char delimiter = c.attrs.get_or("field_delim", std::string(","))[0];
  const bool quotes = c.attrs.get_or("use_quote_delim", true);
  const std::string na = c.attrs.get_or("na_value", std::string());
  const auto* wanted = c.attrs.get<Ints>("select_cols");
  std::vector<Column> columns(c.inputs.size() - 1);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].dtype = c.inputs[i + 1].dtype();
    columns[i].fallback = c.inputs[i + 1];
    if (columns[i].dtype == DType::kString) continue;
    SW_ASSIGN(columns[i].numbers, c.make(columns[i].dtype, records.shape()));
  }
  std::string field;
  Looks looks;
  for (std::int64_t r = 0; r < records.count(); ++r) {
    if (looks.abandoned()) return cancelled();
    Record record(records.string_at(r), delimiter, quotes);
    std::size_t have = 0;
    // Behind the last column that is wanted nothing is read.
    for (std::int64_t at = 0; (wanted == nullptr || have < wanted->size()) && record.more(); ++at) {
      SW_RETURN_IF_ERROR(record.next(field));
      if (wanted != nullptr && (*wanted)[have] != at) continue;
      if (have < columns.size()) {
        const bool given = !field.empty() && field != na;
        SW_RETURN_IF_ERROR(store(columns[have], field, given, have, r));
      }
      ++have;
    }
    if (have != columns.size()) {
      return bad_data(Code::kInvalidArgument, "Expect ", columns.size(), " fields but have ", have,
                      " in record ", r);
    }
  }
  for (Column& column : columns) {
    if (column.dtype == DType::kString) {
      SW_ASSIGN(column.numbers, column.strings.finish(c, records.shape()));
    } else {
      column.numbers.buffer()->touch();
    }
    c.outputs.push_back(std::move(column.numbers));
  }
  return {};
}

constexpr ParamDef kParams[] = {
    {"records", ParamKind::kTensor, "", 's'},   {"record_defaults", ParamKind::kTensors, "", '*'},
    {"field_delim", ParamKind::kString, "','"}, {"use_quote_delim", ParamKind::kBool, "True"},
    {"na_value", ParamKind::kString, "''"},     {"select_cols", ParamKind::kInts, "None"}};

}  // namespace

extern constexpr OpDef decode_csv_op{.name = "decode_csv",
                                     .summary = "The fields of comma-separated records.",
                                     .params = kParams,
                                     .paths = "io.decode_csv",
                                     .outputs = -1,
                                     .effect = Effect::kFallible,
                                     .infer = infer,
                                     .compute = compute,
                                     .per_item = true};

}  // namespace spillway::graph
