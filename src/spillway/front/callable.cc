#include <cstring>
#include <exception>

#include "spillway/base/clock.h"
#include "spillway/front/front_access.h"

namespace spillway {
namespace {

constexpr std::size_t kMostBlock = 1 << 20;

// What the engine adds to an error belongs to one element of one stage: a status that the user
// keeps and returns again must not carry it over, nor must one of a pipeline run inside the
// function.
Status own_error(const Status& error) {
  ErrorInfo info = error.info();
  info.stage.clear();
  info.line.clear();
  info.origin.clear();
  info.index = info.epoch = -1;
  if (info.code == Code::kCancelled) info.code = Code::kUnknown;  // the engine's word for a stop
  return Status(std::move(info));
}

// Results row by row: in one block a component when they are static and small, else one by one.
class ResultRows {
 public:
  ResultRows(StructurePtr structure, std::int64_t rows, const AccountPtr& account)
      : structure_(std::move(structure)), account_(account) {
    const std::int64_t bytes = structure_->static_bytes();
    if (rows < 2 || bytes < 0 || static_cast<std::size_t>(bytes * rows) > kMostBlock) return;
    for (const Structure* leaf : structure_->leaves()) {
      const Shape shape = leaf->shape().with_leading(rows);
      auto block = make_tensor(account, leaf->dtype(), shape, Buffer::Ask::kOwed);
      if (!block.ok()) {
        blocks_.clear();
        return;
      }
      blocks_.push_back(std::move(block).value());
    }
  }

  Status add(std::vector<Tensor> values) {
    for (const Tensor& value : values) bytes_ += value.footprint();
    for (std::size_t c = 0; c < blocks_.size(); ++c) {
      const std::size_t bytes = values[c].bytes();
      if (bytes == 0) continue;
      std::memcpy(blocks_[c].mutable_data() + static_cast<std::size_t>(count_) * bytes,
                  values[c].data(), bytes);
    }
    ++count_;
    if (!blocks_.empty()) return {};
    // From here on the stage holds what the function made on its own heap.
    for (Tensor& value : values) {
      if (value.dtype() == DType::kVariant || !value.buffer()->adopted()) continue;
      SW_ASSIGN(value, compact(account_, value, Buffer::Ask::kOwed));
    }
    rows_.push_back(Row{std::move(values), {}});
    return {};
  }

  std::size_t bytes() const { return bytes_; }

  Chunk finish() && {
    if (count_ == 0) return {};
    if (blocks_.empty()) return Chunk::from_rows(structure_, std::move(rows_));
    std::vector<Column> columns;
    for (const Tensor& block : blocks_) {
      block.buffer()->touch();
      columns.emplace_back(block.slice(0, count_));
    }
    return {structure_, count_, std::move(columns), Origins()};
  }

 private:
  const StructurePtr structure_;
  const AccountPtr account_;
  std::vector<Tensor> blocks_;
  std::vector<Row> rows_;
  std::int64_t count_ = 0;
  std::size_t bytes_ = 0;
};

// `Body` makes the tensors of one result from one sample.
using Body = std::function<Result<std::vector<Tensor>>(const Sample&)>;

class CppFunction final : public Function {
 public:
  CppFunction(std::string name, StructurePtr output, Body body)
      : name_(std::move(name)), output_(std::move(output)), body_(std::move(body)) {}

  Outcome call(const Chunk& rows, const CallContext& context) override {
    Outcome outcome;
    ResultRows results(output_, rows.rows(), context.account);
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      if (i > 0 && (results.bytes() >= context.bytes || now_ns() >= context.deadline_ns)) break;
      Status status = call_one(rows, i, results);
      if (!status.ok()) {
        outcome.error = own_error(status);
        break;
      }
    }
    outcome.out = std::move(results).finish();
    return outcome;
  }

  StructurePtr output() const override { return output_; }
  std::string code() const override { return "c++:" + name_; }
  std::string name() const override { return name_; }
  bool holds_interpreter() const override { return false; }

 private:
  Status call_one(const Chunk& rows, std::int64_t row, ResultRows& results) const {
    std::vector<Array> values;
    values.reserve(rows.columns().size());
    for (const Column& column : rows.columns())
      values.push_back(FrontAccess::array(column.row(row)));
    const Sample sample = FrontAccess::sample(rows.structure(), std::move(values));
    try {
      SW_ASSIGN(std::vector<Tensor> made, body_(sample));
      return results.add(std::move(made));
    } catch (const std::exception& error) {
      return Status::error(ErrorKind::kUser, Code::kUnknown, name_, ": ", error.what());
    } catch (...) {
      return Status::error(ErrorKind::kUser, Code::kUnknown, name_, ": threw no std::exception");
    }
  }

  const std::string name_;
  const StructurePtr output_;
  const Body body_;
};

Status check_result(const std::string& name, const Structure& declared, const Sample& result,
                    std::span<const Tensor> values) {
  const StructurePtr& nest = FrontAccess::structure(result);
  Status status = nest != nullptr && declared.same_nest(*nest)
                      ? check_values(declared, values)
                      : invalid_argument("another structure");
  if (status.ok()) return status;
  return invalid_argument(name, ": the result must be as declared, ", declared.to_string(), ": ",
                          result.spec().to_string(), ": ", status.message());
}

}  // namespace

Callable Callable::map(std::string name, Spec output, MapFunction function) {
  Callable out;
  out.status_ = output.status();
  if (out.status_.ok() && (!output.known() || function == nullptr || name.empty())) {
    out.status_ = invalid_argument("map: needs a name, the spec of the results and a function");
  }
  if (!out.status_.ok()) return out;
  const StructurePtr declared = FrontAccess::structure(output);
  Body body = [name, declared, function = std::move(function)](
                  const Sample& sample) -> Result<std::vector<Tensor>> {
    SW_ASSIGN(const Sample result, function(sample));
    SW_ASSIGN(std::vector<Tensor> values, FrontAccess::tensors(result));
    SW_RETURN_IF_ERROR(check_result(name, *declared, result, values));
    return values;
  };
  out.function_ = std::make_shared<CppFunction>(std::move(name), declared, std::move(body));
  return out;
}

Callable Callable::predicate(std::string name, Predicate function) {
  if (function == nullptr) return map(std::move(name), Spec::of<bool>(), nullptr);
  return map(std::move(name), Spec::of<bool>(),
             [function = std::move(function)](const Sample& sample) -> Result<Sample> {
               SW_ASSIGN(const bool kept, function(sample));
               return Sample(kept);
             });
}

Callable Callable::dataset(std::string name, Spec element, DatasetFunction function) {
  Callable out;
  out.status_ = element.status();
  if (out.status_.ok() && (function == nullptr || name.empty())) {
    out.status_ = invalid_argument("dataset function: needs a name and a function");
  }
  if (!out.status_.ok()) return out;
  Body body = [function =
                   std::move(function)](const Sample& sample) -> Result<std::vector<Tensor>> {
    SW_ASSIGN(const Dataset dataset, function(sample));
    SW_RETURN_IF_ERROR(dataset.status());
    return std::vector<Tensor>{
        make_variant(std::make_shared<DatasetValue>(FrontAccess::data(dataset).node))};
  };
  out.function_ = std::make_shared<CppFunction>(
      std::move(name), Structure::dataset(FrontAccess::structure(element)), std::move(body));
  return out;
}

}  // namespace spillway
