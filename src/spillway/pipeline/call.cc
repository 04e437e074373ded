#include "spillway/pipeline/call.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <new>
#include <thread>

#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/interruption.h"
#include "spillway/memory/room.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/watched_run.h"

namespace spillway {
namespace {

// Running out of elements inside a function is a mistake in it, not the end of the data. The
// codes are those TensorFlow gives, operator by operator.
void not_the_end(Status& error, std::string_view op) {
  if (error.code() != Code::kOutOfRange || op == "reduce") return;
  ErrorInfo& info = error.edit();
  if (op == "map" || op == "scan") {
    info.code = Code::kInvalidArgument;
    info.message = "Function invocation produced OutOfRangeError: " + info.message;
  } else {
    info.code = Code::kInternal;
    info.message = std::string(op) +
                   " returned `OutOfRange`: a function must not end the data: " + info.message;
  }
}

// On the board, where the user's own code is called.
class InUserCode {
 public:
  InUserCode(const Stage& stage, const Function& function, std::int64_t index, std::int64_t epoch)
      : theirs_(function.holds_interpreter()),
        doing_(theirs_ ? Phase::kFunction : Phase::kNone,
               theirs_ ? text_of(stage, function.name()) : 0, epoch, index, &stage.run()) {}
  std::atomic<std::int64_t>* row() const { return doing_.row(); }

 private:
  const bool theirs_;
  const Doing doing_;
};

// The file that the row names: its only text that is the path of one. Python's own loaders (NumPy,
// h5py, pandas) seldom say which file they failed on.
std::string file_named_in(const Row& row) {
  std::string found;
  for (const Tensor& value : row.values) {
    if (value.dtype() != DType::kString || value.count() != 1) continue;
    const std::string text(value.string_at(0));
    struct stat about{};
    const bool names = text.size() < PATH_MAX && text.find('\0') == text.npos &&
                       ::stat(text.c_str(), &about) == 0 && S_ISREG(about.st_mode);
    if (!names || text == found) continue;
    if (!found.empty()) return {};
    found = text;
  }
  return found;
}

void describe(Status& error, const Chunk& rows, std::int64_t row, std::int64_t index,
              int attempts) {
  ErrorInfo& info = error.edit();
  if (info.index < 0) info.index = index;
  info.attempts = std::max(info.attempts, attempts);  // or as many workers that it cost
  if (info.origin.empty()) info.origin = rows.origins().describe(row);
  const Origin origin = rows.origins().at(row);
  if (info.file.empty() && origin.scope != nullptr && !origin.scope->file.empty()) {
    info.file = origin.scope->file;
    info.offset = -1;  // in the record, not in the file
  }
  const Chunk alone = rows.slice(row, row + 1);
  if (info.file.empty() && info.cause != nullptr) info.file = file_named_in(alone.row(0));
  set_failed_row(error, {.input = alone, .lost = alone.amount(), .counted = nullptr});
}

// Sleeps in slices, so that neither a stopped run nor Ctrl-C waits for it. False: interrupted.
bool back_off(const Run& run, double seconds) {
  using std::chrono::milliseconds;
  milliseconds left(std::llround(1000 * seconds));
  for (; left > milliseconds(0) && !run.stop(); left -= milliseconds(20)) {
    if (interrupted()) return false;
    std::this_thread::sleep_for(std::min(left, milliseconds(20)));
  }
  return !interrupted();
}

Status wrong_result(const Structure& declared, std::span<const Tensor> values) {
  Status status = check_values(declared, values);
  if (!status.ok()) {
    status = invalid_argument("the function's result must be as declared, ", declared.to_string(),
                              ": ", status.message());
  }
  return status;
}

}  // namespace

Function::Outcome settle_row(Stage& stage, Function& function, const Chunk& rows, std::int64_t row,
                             std::int64_t index, std::int64_t epoch, Status error) {
  Function::Outcome outcome;
  outcome.error = std::move(error);
  std::int64_t cpu_ns = 0;
  int attempts = 1;
  const auto failed = [&] {
    return !outcome.error.ok() && outcome.error.code() != Code::kCancelled;
  };
  const OnError& policy = stage.policy();
  double pause = policy.backoff_s;
  const Chunk alone = rows.slice(row, row + 1);
  while (failed() && attempts <= policy.retries && !stage.run().stop()) {
    if (!back_off(stage.run(), pause)) {
      outcome.error = cancelled();
      break;
    }
    pause *= 2;
    const UserCodeScope user_code(stage.account());
    CallContext again{stage.account(), index, epoch};
    again.stop = &stage.run().stop();
    const InUserCode called(stage, function, index, epoch);
    outcome = function.call(alone, again);
    cpu_ns += outcome.cpu_ns;
    ++attempts;
  }
  if (is_interruption(outcome.error)) {
    outcome.error = stage.keep_interruption(std::move(outcome.error), index, epoch);
  } else if (failed()) {
    not_the_end(outcome.error, stage.node().op().name);
    describe(outcome.error, rows, row, index, attempts);
  }
  outcome.cpu_ns = cpu_ns;
  return outcome;
}

Function::Outcome call_rows(Stage& stage, Function& function, const Chunk& rows,
                            std::int64_t first_index, std::int64_t epoch, const Demand* demand,
                            RowGatherer* batch) {
  std::vector<Chunk> parts;
  std::int64_t done = 0;
  std::int64_t cpu_ns = 0;
  Status failed;
  while (done < rows.rows()) {
    failed = stage.kept_interruption(first_index + done, epoch);
    if (!failed.ok()) break;
    const Chunk rest = rows.slice(done, rows.rows());
    const UserCodeScope user_code(stage.account());
    CallContext context{stage.account(), first_index + done, epoch};
    if (demand != nullptr) {
      context.bytes = demand->bytes;
      context.deadline_ns = now_ns() + demand->time_ns;
    }
    context.batch = batch;
    context.stop = &stage.run().stop();
    auto outcome = [&] {
      const InUserCode called(stage, function, first_index + done, epoch);
      context.at = called.row();
      try {
        return function.call(rest, context);
      } catch (const std::bad_alloc&) {
        Function::Outcome refused;
        refused.error = container_is_full();
        return refused;
      }
    }();
    cpu_ns += outcome.cpu_ns;
    const std::int64_t made = outcome.out.rows();
    if (made > 0) parts.push_back(std::move(outcome.out));
    done += made;
    // A function in another process may leave rows on its own account.
    if (outcome.error.ok() && demand == nullptr && made > 0) continue;
    if (outcome.error.ok()) break;
    outcome = settle_row(stage, function, rows, done, first_index + done, epoch,
                         std::move(outcome.error));
    cpu_ns += outcome.cpu_ns;
    if (!outcome.error.ok()) {
      failed = std::move(outcome.error);
      break;
    }
    parts.push_back(std::move(outcome.out));
    ++done;
  }
  Function::Outcome result;
  result.error = std::move(failed);
  result.cpu_ns = cpu_ns;
  if (!parts.empty()) {
    const StructurePtr structure = parts[0].structure();
    result.out = (parts.size() == 1 ? std::move(parts[0]) : join_rows(structure, parts))
                     .with_origins(rows.origins().slice(0, done));
  }
  return result;
}

Result<Row> call_row(Stage& stage, Function& function, const StructurePtr& structure,
                     std::vector<Tensor> values, const Origin& origin, std::int64_t index,
                     std::int64_t epoch, StructurePtr* out_structure) {
  const Chunk row = Chunk::from_row(structure, Row{std::move(values), origin});
  auto outcome = call_rows(stage, function, row, index, epoch);
  if (!outcome.error.ok()) return std::move(outcome.error);
  if (outcome.out.rows() != 1) return internal_bug(function.name(), ": one result a call");
  Row result = outcome.out.row(0);
  if (const StructurePtr declared = function.output(); declared != nullptr) {
    SW_RETURN_IF_ERROR(wrong_result(*declared, result.values));
  }
  if (out_structure != nullptr) *out_structure = outcome.out.structure();
  return result;
}

Status of_row(Status error, const Chunk& rows, std::int64_t row) {
  return losing(std::move(error), rows.slice(row, row + 1).amount());
}

Status check_predicate(const Function& predicate) {
  const StructurePtr out = predicate.output();
  if (out == nullptr || (out->kind() == Structure::Kind::kTensor && out->dtype() == DType::kBool &&
                         out->shape().compatible(Shape()))) {
    return {};
  }
  Status status = invalid_argument(
      "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type "
      "is ",
      out->to_string(), ".");
  status.edit().type = "ValueError";
  return status;
}

Result<bool> bool_result(const Chunk& results, std::int64_t row, std::string_view what) {
  const std::vector<Tensor> values = results.row(row).values;
  if (values.size() != 1 || values[0].dtype() != DType::kBool || values[0].shape().rank() != 0) {
    Status status = invalid_argument(
        "`", what, "` must return a `tf.bool` scalar tensor, but its return type is ",
        results.structure() == nullptr ? "unknown"
                                       : observed(*results.structure(), values)->to_string(),
        ".");
    status.edit().type = "ValueError";
    return status;
  }
  return *values[0].as<bool>();
}

const bool* bool_results(const Chunk& results) {
  if (results.columns().size() != 1 || !results.columns()[0].is_block()) return nullptr;
  const Tensor& block = results.columns()[0].block();
  return block.dtype() == DType::kBool && block.shape().rank() == 1 ? block.as<bool>() : nullptr;
}

Result<std::int64_t> int_result(const Tensor& value, std::string_view what) {
  if (value.dtype() != DType::kInt64 || value.shape().rank() != 0) {
    return invalid_argument("`", what,
                            "` must return a single `tf.int64` scalar tensor: TensorSpec(shape=",
                            value.shape().to_string(), ", dtype=", name_of(value.dtype()), ")");
  }
  return *value.as<std::int64_t>();
}

Result<NodePtr> dataset_result(const Tensor& value, std::string_view what) {
  if (value.dtype() == DType::kVariant && value.shape().rank() == 0) {
    if (const auto* dataset = dynamic_cast<const DatasetValue*>(value.variant_at(0).get())) {
      return dataset->node();
    }
  }
  Status status = invalid_argument(
      "`", what, "` must return a dataset: TensorSpec(shape=", value.shape().to_string(),
      ", dtype=", name_of(value.dtype()), ")");
  status.edit().type = "TypeError";
  return status;
}

}  // namespace spillway
