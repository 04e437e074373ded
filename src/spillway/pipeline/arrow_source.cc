#include "spillway/pipeline/arrow_source.h"

#include <algorithm>
#include <cstring>

#include "spillway/pipeline/operator.h"

namespace spillway {
namespace {

// In the producer's own words.
Status stream_error(ArrowSource::Stream& stream, int code, std::string_view what) {
  const char* words =
      stream->get_last_error == nullptr ? nullptr : stream->get_last_error(stream.get());
  Status status = bad_data(Code::kDataLoss, "from_arrow: the stream's ", what,
                           " failed: ", words == nullptr ? std::strerror(code) : words);
  status.edit().type = "DataError";
  return status;
}

Result<arrow::Owned<arrow::Schema>> schema_of(ArrowSource::Stream& stream) {
  arrow::Owned<arrow::Schema> schema;
  const int code = stream->get_schema(stream.get(), schema.get());
  if (code != 0) return stream_error(stream, code, "schema");
  if (!schema.has_value()) return invalid_argument("from_arrow: the stream has no schema");
  return schema;
}

}  // namespace

Result<std::shared_ptr<const arrow::Type>> ArrowSource::type() {
  {
    const MutexLock lock(mutex_);
    if (type_ != nullptr) return type_;
  }
  Status why;
  for (std::size_t part = 0; part < (leaves_out() ? parts() : 1); ++part) {
    Status described = describe_by(part);
    if (described.ok()) {
      const MutexLock lock(mutex_);
      return type_;
    }
    if (!is_position(described)) return described;
    if (why.ok()) why = std::move(described);
  }
  return why;
}

Status ArrowSource::describe_by(std::size_t part) {
  // Not under the lock: a producer may take its time, and the GIL.
  std::int64_t skip = 0;
  SW_ASSIGN(Stream stream, ask(part, skip));
  SW_ASSIGN(const auto schema, schema_of(stream));
  SW_ASSIGN(arrow::Type found, arrow::type_of(*schema));
  const MutexLock lock(mutex_);
  if (type_ == nullptr) {
    type_ = std::make_shared<arrow::Type>(std::move(found));
    first_ = std::move(stream);
    first_part_ = part;
  }
  return {};
}

Result<ArrowSource::Stream> ArrowSource::open(std::size_t part, std::int64_t& skip) {
  SW_ASSIGN(const auto expected, type());
  {
    const MutexLock lock(mutex_);
    if (first_ && first_part_ == part) {
      Stream stream = *std::move(first_);
      first_.reset();
      return stream;
    }
  }
  const std::int64_t wanted = skip;
  SW_ASSIGN(Stream stream, ask(part, skip));
  if (skip < 0 || skip > wanted) {
    return internal_bug("from_arrow: a stream that passed more rows than it was asked to");
  }
  SW_ASSIGN(const auto schema, schema_of(stream));
  SW_ASSIGN(const arrow::Type found, arrow::type_of(*schema));
  if (*found.structure() != *expected->structure()) {
    Status status =
        bad_data(Code::kInvalidArgument,
                 "from_arrow: all streams must have the columns of the first: expected ",
                 expected->structure()->to_string(), ", found ", found.structure()->to_string());
    status.edit().type = "ShapeError";
    return status;
  }
  return stream;
}

Result<arrow::Owned<arrow::Array>> ArrowSource::next(Stream& stream,
                                                     const arrow::Type& type) const {
  arrow::Owned<arrow::Array> array;
  const int code = stream->get_next(stream.get(), array.get());
  if (code != 0) return stream_error(stream, code, "next batch");
  if (array.has_value()) SW_RETURN_IF_ERROR(check_array(type, *array));
  return array;
}

Status ArrowSource::check_end(std::int64_t rows) {
  const MutexLock lock(mutex_);
  if (rows == 0 && rows_ > 0) {
    Status status = Status::error(
        ErrorKind::kUser, Code::kFailedPrecondition, "from_arrow: ", describe(), " gave ", rows_,
        " rows in an earlier pass and none in this one: it can be read only once. "
        "Give from_arrow a function that opens it anew, or cache() its rows");
    status.edit().type = "GeneratorNotReplayable";
    return status;
  }
  rows_ = std::max(rows_, rows);
  return {};
}

}  // namespace spillway
