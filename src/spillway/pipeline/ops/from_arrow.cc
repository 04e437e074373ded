#include <algorithm>

#include "spillway/pipeline/arrow_source.h"
#include "spillway/pipeline/operator.h"

namespace spillway {
namespace {

using arrow::BatchPtr;

std::shared_ptr<ArrowSource> source_of(const Node& node) {
  return std::dynamic_pointer_cast<ArrowSource>(node.object_param("source"));
}

Result<Inferred> infer(const Node& node) {
  const auto source = source_of(node);
  if (source == nullptr) {
    Status status = invalid_argument("from_arrow: `source` must have __arrow_c_stream__");
    status.edit().type = "TypeError";
    return status;
  }
  const std::string nulls = node.string_param("nulls", "error");
  if (nulls != "error" && nulls != "fill") {
    return invalid_argument("from_arrow: `nulls` must be 'error' or 'fill': '", nulls, "'");
  }
  return Inferred{node.signature_param("output_signature"), kUnknownCount};
}

class ArrowIterator final : public Iterator {
 public:
  ArrowIterator(const OpenContext& context, std::shared_ptr<ArrowSource> source,
                std::shared_ptr<const arrow::Type> type)
      : Iterator(context.stage(), context.epoch()),
        source_(std::move(source)),
        type_(std::move(type)),
        fill_(context.node().string_param("nulls", "error") == "fill"),
        context_(context) {}

  Next pull(const Demand& demand) override {
    for (;;) {
      if (part_ >= source_->parts()) {
        if (Status end = ended(); !end.ok()) return end;
        return end_of_data();
      }
      if (batch_ == nullptr) {
        if (Status status = next_batch(); !status.ok()) return failed(std::move(status));
        if (batch_ == nullptr) continue;
      }
      if (at_ < batch_->rows()) return rows(demand);
      batch_ = nullptr;
    }
  }

  Status save(StateWriter& out) const override {
    out.put(static_cast<std::int64_t>(part_));
    out.put(passed_);
    out.put(ordinal_);
    return {};
  }
  Status restore(StateReader& in) override {
    std::int64_t part = 0;
    SW_RETURN_IF_ERROR(in.get_count(part, static_cast<std::int64_t>(source_->parts())));
    SW_RETURN_IF_ERROR(in.get_count(passed_));
    SW_RETURN_IF_ERROR(in.get_count(ordinal_));
    part_ = static_cast<std::size_t>(part);
    return {};
  }

 private:
  // The next batch of the part to batch_, or the next part.
  Status next_batch() {
    if (!stream_) {
      to_pass_ = passed_;
      SW_ASSIGN(stream_, source_->open(part_, to_pass_));
      scope_ = context_.source_scope(source_->file(part_));
    }
    // Whoever makes batches does so now: back-pressure, as for bytes that Python makes.
    SW_RETURN_IF_ERROR(account()->wait_for_room(largest_));
    SW_ASSIGN(auto array, source_->next(*stream_, *type_));
    if (!array.has_value()) {
      next_part();
      return {};
    }
    bytes_ = arrow::bytes_of(*type_, *array);
    // A table that the user holds may be larger than the budget: then it is untracked, as arrays
    // are that were adopted.
    auto charged = account()->try_reserve(bytes_);
    if (charged) {
      charged->touch();
      largest_ = std::max(largest_, bytes_);
    }
    batch_ = std::make_shared<arrow::Batch>(std::move(array),
                                            charged ? std::move(*charged) : Reservation());
    at_ = std::min(to_pass_, batch_->rows());
    to_pass_ -= at_;
    return {};
  }

  Next rows(const Demand& demand) {
    const std::size_t each = bytes_ / static_cast<std::size_t>(batch_->rows()) + 1;
    const auto fit = std::max<std::int64_t>(1, static_cast<std::int64_t>(demand.bytes / each));
    std::int64_t count = std::min({demand.rows, fit, batch_->rows() - at_});
    if (!fill_) {
      if (const auto null = arrow::first_null(*type_, batch_->array(), at_, count)) {
        if (null->row == 0) return null_error(*null->column);
        count = null->row;
      }
    }
    SW_ASSIGN(auto columns, arrow::import_rows(account(), *type_, batch_, at_, count));
    const Origins origins = Origins::regular(scope_, ordinal_);
    pass(count);
    return std::optional(Chunk(stage().node().structure(), count, std::move(columns), origins));
  }

  void pass(std::int64_t count) {
    at_ += count;
    passed_ += count;
    ordinal_ += count;
  }

  Status null_error(const arrow::Type& column) {
    Status status = bad_data(Code::kInvalidArgument, "from_arrow: column ", column.path,
                             " must have a value: row ", passed_,
                             " is null (nulls='fill' makes it NaN, zero or empty)");
    note(status);
    pass(1);
    return status;
  }

  // An error that stands in an element's place takes what follows in its stream with it.
  // One that is no file ends early with it.
  Status failed(Status error) {
    if (!is_position(error)) return error;
    note(error);
    const bool partly = stream_.has_value();
    if (source_->file(part_).empty()) {
      error = ending_source(std::move(error));
    } else if (partly) {
      error = ending_file(std::move(error));
    }
    ++ordinal_;
    next_part();
    return error;
  }
  void note(Status& error) {
    ErrorInfo& info = error.edit();
    if (info.file.empty()) info.file = source_->file(part_);
    if (info.index < 0) info.index = ordinal_;
    if (info.origin.empty()) info.origin = context_.source_scope(info.file)->source;
  }

  void next_part() {
    stream_.reset();
    batch_ = nullptr;
    passed_ = 0;
    ++part_;
  }

  Status ended() {
    if (std::exchange(checked_, true)) return {};
    return source_->check_end(ordinal_);
  }

  const std::shared_ptr<ArrowSource> source_;
  const std::shared_ptr<const arrow::Type> type_;
  const bool fill_;
  const OpenContext context_;
  std::size_t part_ = 0;
  std::int64_t passed_ = 0;   // rows of the part, an error counted
  std::int64_t ordinal_ = 0;  // of all
  std::int64_t to_pass_ = 0;  // rows of the stream that a checkpoint has behind it
  std::optional<ArrowSource::Stream> stream_;
  BatchPtr batch_;
  std::int64_t at_ = 0;  // row of the batch
  std::size_t bytes_ = 0;
  std::size_t largest_ = 0;  // batch that was charged
  bool checked_ = false;
  ScopePtr scope_;
};

constexpr ParamDef kParams[] = {{"source", ParamType::kObject, "", "what has Arrow's C stream"},
                                {"output_signature", ParamType::kSignature, "None", "its columns"},
                                {"nulls", ParamType::kString, "'error'", "'error' or 'fill'"},
                                {"files", ParamType::kString, "''", "what is read"}};

}  // namespace

extern constexpr OperatorDef from_arrow_operator{
    .name = "from_arrow",
    .summary = "Rows of record batches that come through Arrow's C stream interface.",
    .example =
        ">>> import pyarrow as pa\n"
        ">>> table = pa.table({'x': [1.5, 2.5], 's': ['a', 'b']})\n"
        ">>> [(row['s'], float(row['x'])) for row in sw.Dataset.from_arrow(table)]\n"
        "[(b'a', 1.5), (b'b', 2.5)]",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kUserCode,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      auto source = source_of(context.node());
      SW_ASSIGN(auto type, source->type());
      return IteratorPtr(
          std::make_unique<ArrowIterator>(context, std::move(source), std::move(type)));
    }};

}  // namespace spillway
