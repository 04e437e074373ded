#include "spillway/testing/pipelines.h"

#include <gtest/gtest.h>

#include <cstring>

#include "spillway/memory/activity.h"

namespace spillway::testing {
namespace {

const AccountPtr& constants() {
  static const AccountPtr kAccount = Budget::process().open_account("test constants");
  return kAccount;
}

// The tests' own values are there already.
constexpr auto kOwed = Buffer::Ask::kOwed;

class TestFunction final : public Function {
 public:
  TestFunction(StructurePtr output, std::function<Result<Values>(const Values&)> body)
      : output_(std::move(output)), body_(std::move(body)) {}

  Outcome call(const Chunk& rows, const CallContext& context) override {
    Outcome outcome;
    std::vector<Row> made;
    std::size_t bytes = 0;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      if (i > 0 && bytes >= context.bytes) break;
      if (context.at != nullptr) *context.at = i;
      // As a native function does for its result: so that it can be refused.
      if (auto room = context.account->reserve(64); !room.ok()) {
        outcome.error = std::move(room).status();
        break;
      }
      auto result = body_(rows.row(i).values);
      if (!result.ok()) {
        outcome.error = std::move(result).status();
        break;
      }
      made.push_back(Row{std::move(result).value(), {}});
      bytes += made.back().footprint();
    }
    if (!made.empty()) outcome.out = Chunk::from_rows(output_, std::move(made));
    return outcome;
  }
  StructurePtr output() const override { return output_; }
  std::string code() const override { return "test"; }
  std::string name() const override { return "test"; }
  bool holds_interpreter() const override { return false; }

 private:
  const StructurePtr output_;
  const std::function<Result<Values>(const Values&)> body_;
};

template <class T>
std::string number(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  std::ostringstream text;
  if constexpr (sizeof(T) == 1) {
    text << static_cast<int>(value);
  } else {
    text << value;
  }
  return text.str();
}

std::string item(const Tensor& tensor, std::int64_t i) {
  if (tensor.dtype() == DType::kString) return "'" + std::string(tensor.string_at(i)) + "'";
  if (tensor.dtype() == DType::kVariant) {
    const auto* dataset = dynamic_cast<const DatasetValue*>(tensor.variant_at(i).get());
    if (dataset == nullptr) return tensor.variant_at(i)->describe();
    std::string text = "<";
    for (const std::string& each : elements(dataset->node())) {
      text += (text.size() > 1 ? " " : "") + each;
    }
    return text + ">";
  }
  const std::byte* at = tensor.data() + static_cast<std::size_t>(i) * size_of(tensor.dtype());
  switch (tensor.dtype()) {
    case DType::kInt64:
      return number<std::int64_t>(at);
    case DType::kInt32:
      return number<std::int32_t>(at);
    case DType::kInt16:
      return number<std::int16_t>(at);
    case DType::kInt8:
      return number<std::int8_t>(at);
    case DType::kUInt8:
      return number<std::uint8_t>(at);
    case DType::kUInt16:
      return number<std::uint16_t>(at);
    case DType::kUInt32:
      return number<std::uint32_t>(at);
    case DType::kUInt64:
      return number<std::uint64_t>(at);
    case DType::kFloat32:
      return number<float>(at);
    case DType::kFloat64:
      return number<double>(at);
    case DType::kBool:
      return *reinterpret_cast<const bool*>(at) ? "true" : "false";
    default:
      return "?";
  }
}

std::string show_tensor(const Tensor& tensor) {
  if (tensor.shape().rank() == 0) return item(tensor, 0);
  std::string text = "[";
  for (std::int64_t i = 0; i < tensor.shape()[0]; ++i) {
    text += (i > 0 ? " " : "") + show_tensor(tensor.row(i));
  }
  return text + "]";
}

std::string show_nest(const Structure& structure, const Row& row, std::size_t& at) {
  if (structure.is_component()) return show_tensor(row.values[at++]);
  if (structure.kind() == Structure::Kind::kNone) return "None";
  std::string text = structure.kind() == Structure::Kind::kDict ? "{" : "(";
  for (std::size_t i = 0; i < structure.children().size(); ++i) {
    if (i > 0) text += ", ";
    if (!structure.keys().empty()) text += structure.keys()[i] + ": ";
    text += show_nest(*structure.children()[i], row, at);
  }
  return text + (structure.kind() == Structure::Kind::kDict ? "}" : ")");
}

}  // namespace

Result<NodePtr> try_node(std::string_view op, const NamedValues& params,
                         std::vector<NodePtr> inputs) {
  const OperatorDef* def = find_operator(op);
  if (def == nullptr) return invalid_argument("test: no operator ", op);
  std::vector<Value> values;
  for (const ParamDef& param : def->params) values.push_back(default_of(param));
  for (const auto& [name, value] : params) {
    bool known = false;
    for (std::size_t i = 0; i < def->params.size(); ++i) {
      if (def->params[i].name != name) continue;
      values[i] = value;
      known = true;
    }
    if (!known) return invalid_argument("test: ", op, " has no parameter ", name);
  }
  return Node::make(*def, std::move(values), std::move(inputs), "test line");
}

NodePtr node(std::string_view op, const NamedValues& params, std::vector<NodePtr> inputs) {
  auto made = try_node(op, params, std::move(inputs));
  if (!made.ok()) {
    ADD_FAILURE() << op << ": " << made.error().message();
    return nullptr;
  }
  return made.value();
}

NodePtr range(std::int64_t stop) {
  return node("range", {{"start", std::int64_t{0}}, {"stop", stop}});
}

Tensor i64(std::int64_t value) {
  return make_scalar(constants(), DType::kInt64, value, kOwed).value();
}

Tensor i64s(std::vector<std::int64_t> values) {
  Tensor out = make_tensor(constants(), DType::kInt64,
                           Shape{static_cast<std::int64_t>(values.size())}, kOwed)
                   .value();
  std::ranges::copy(values, reinterpret_cast<std::int64_t*>(out.mutable_data()));
  return out;
}

Tensor str(std::string_view value) {
  return make_strings(constants(), {}, {&value, 1}, kOwed).value();
}

Value ints(std::vector<std::int64_t> values) {
  auto list = std::make_shared<ValueList>();
  for (const std::int64_t value : values) list->items.emplace_back(value);
  return std::shared_ptr<const ValueList>(std::move(list));
}

StructurePtr i64_spec(Shape shape) { return Structure::tensor(DType::kInt64, std::move(shape)); }

ElementPtr element(StructurePtr structure, std::vector<Tensor> values) {
  return std::make_shared<Element>(Element{std::move(structure), std::move(values)});
}

FunctionPtr fn(StructurePtr output, std::function<Result<Values>(const Values&)> body) {
  return std::make_shared<TestFunction>(std::move(output), std::move(body));
}

FunctionPtr scalar_fn(std::function<Result<std::int64_t>(std::int64_t)> body) {
  return fn(i64_spec(), [body = std::move(body)](const Values& in) -> Result<Values> {
    SW_ASSIGN(const std::int64_t out, body(*in[0].as<std::int64_t>()));
    return Values{i64(out)};
  });
}

FunctionPtr predicate(std::function<bool(std::int64_t)> body) {
  return fn(Structure::tensor(DType::kBool, {}),
            [body = std::move(body)](const Values& in) -> Result<Values> {
              SW_ASSIGN(Tensor out, make_scalar(constants(), DType::kBool,
                                                body(*in[0].as<std::int64_t>()), kOwed));
              return Values{std::move(out)};
            });
}

FunctionPtr dataset_fn(std::function<NodePtr(std::int64_t)> body, StructurePtr inner) {
  return fn(Structure::dataset(std::move(inner)),
            [body = std::move(body)](const Values& in) -> Result<Values> {
              return Values{
                  make_variant(std::make_shared<DatasetValue>(body(*in[0].as<std::int64_t>())))};
            });
}

NodePtr failing_range(std::int64_t n, std::int64_t bad) {
  return node("map", {{"map_func", scalar_fn([bad](std::int64_t x) -> Result<std::int64_t> {
                         if (x == bad) return bad_data(Code::kDataLoss, "bad element");
                         return x;
                       })}},
              {range(n)});
}

NodePtr vectors_of(std::vector<std::int64_t> lengths, Shape spec) {
  return node("map",
              {{"map_func", fn(i64_spec(std::move(spec)),
                               [lengths](const Values& in) -> Result<Values> {
                                 const auto i = static_cast<std::size_t>(*in[0].as<std::int64_t>());
                                 const auto n = static_cast<std::size_t>(lengths[i]);
                                 return Values{i64s(std::vector<std::int64_t>(n, lengths[i]))};
                               })}},
              {range(static_cast<std::int64_t>(lengths.size()))});
}

NodePtr batches_of(std::int64_t size, NodePtr input, bool drop) {
  return node("batch", {{"batch_size", size}, {"drop_remainder", drop}}, {std::move(input)});
}

std::string show(const Chunk& chunk, std::int64_t row) {
  const Row values = chunk.row(row);
  std::size_t at = 0;
  return show_nest(*chunk.structure(), values, at);
}

std::vector<std::string> drain(Iterator& it, const Demand& demand, std::size_t most) {
  std::vector<std::string> out;
  // As a consumer: when nobody can give memory back, an error says so instead of a wait.
  const Consuming consuming(it.stage().run().budget());
  while (out.size() < most) {
    Next next = it.next(demand);
    if (!next.ok()) {
      out.push_back("!" + std::string(to_string(next.error().code())));
      continue;
    }
    if (!next.value()) break;
    for (std::int64_t i = 0; i < next.value()->rows() && out.size() < most; ++i) {
      out.push_back(show(*next.value(), i));
    }
  }
  return out;
}

Opened open(const NodePtr& node) { return open(node, Budget::process()); }

Opened open(const NodePtr& node, Budget& budget) {
  auto run = Run::open(node, {}, budget);
  EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().message());
  auto it = run.value()->open_root();
  EXPECT_TRUE(it.ok()) << (it.ok() ? "" : it.error().message());
  return {std::move(run).value(), std::move(it).value()};
}

NodePtr large_rows(std::int64_t count) {
  const auto fill = [](const Values& in) -> Result<Values> {
    return Values{i64s(std::vector<std::int64_t>(kLargeRow, *in[0].as<std::int64_t>()))};
  };
  return node("map", {{"map_func", fn(i64_spec({kUnknownDim}), fill)}}, {range(count)});
}

Scarcity::Scarcity(std::size_t limit)
    : budget_(limit), keeper_(budget_.open_account("somebody else")), consuming_(budget_) {}

void Scarcity::leave(std::size_t bytes) {
  kept_ = {};
  const std::size_t free = budget_.free_pool();
  if (free > bytes) kept_ = std::move(*keeper_->try_reserve(free - bytes));
}

std::vector<std::string> elements(const NodePtr& node, std::size_t most) {
  const Opened opened = open(node);
  return drain(*opened.it, Demand::one(), most);
}

}  // namespace spillway::testing
