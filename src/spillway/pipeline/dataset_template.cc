#include "spillway/pipeline/dataset_template.h"

#include <algorithm>
#include <unordered_map>

#include "spillway/base/clock.h"
#include "spillway/pipeline/call.h"
#include "spillway/pipeline/graph_function.h"

namespace spillway {
namespace {

// One pipeline from the form, for one element.
class Instance {
 public:
  Instance(const DatasetTemplate& form, std::span<const Tensor> values,
           std::span<const NodePtr> datasets)
      : form_(form), values_(values) {
    for (std::size_t i = 0; i < datasets.size(); ++i) made_[form.given[i].get()] = datasets[i];
  }

  Result<NodePtr> make(const NodePtr& node) {
    if (const auto found = made_.find(node.get()); found != made_.end()) return found->second;
    std::vector<NodePtr> inputs;
    inputs.reserve(node->inputs().size());
    for (const NodePtr& input : node->inputs()) {
      SW_ASSIGN(NodePtr made, make(input));
      inputs.push_back(std::move(made));
    }
    std::vector<Value> params = node->params();
    SW_RETURN_IF_ERROR(fill(*node, params));
    SW_ASSIGN(NodePtr made, Node::make(node->op(), std::move(params), std::move(inputs),
                                       node->line(), node->name()));
    made_[node.get()] = made;
    return made;
  }

 private:
  Status fill(const Node& node, std::vector<Value>& params) const {
    std::unordered_map<std::size_t, std::vector<Tensor>> captured;
    for (const TemplateHole& hole : form_.holes) {
      if (hole.node.get() != &node) continue;
      const Tensor& value = values_[hole.value];
      Value& param = params[hole.param];
      if (std::holds_alternative<std::int64_t>(param)) {
        SW_ASSIGN(param, int_result(value, node.op().params[hole.param].name));
      } else if (const auto* element = std::get_if<ElementPtr>(&param)) {
        param = with_component(**element, hole.part, value);
      } else {
        captured[hole.param].push_back(value);  // holes of a function come in order
      }
    }
    for (auto& [param, values] : captured) {
      FunctionPtr bound = bind_captured(std::get<FunctionPtr>(params[param]), std::move(values));
      if (bound == nullptr) return internal_bug("template: a function that takes no values");
      params[param] = std::move(bound);
    }
    return {};
  }

  static ElementPtr with_component(const Element& element, std::size_t part, const Tensor& value) {
    std::size_t at = 0;
    auto made = std::make_shared<Element>(element);
    made->structure = element.structure->map_leaves([&](const Structure& leaf) {
      return at++ == part ? Structure::tensor(value.dtype(), value.shape())
                          : Structure::tensor(leaf.dtype(), leaf.shape());
    });
    made->values[part] = value;
    return made;
  }

  const DatasetTemplate& form_;
  const std::span<const Tensor> values_;
  std::unordered_map<const Node*, NodePtr> made_;
};

class TemplateFunction final : public Function {
 public:
  TemplateFunction(DatasetTemplate form, StructurePtr output, std::string code, std::string name)
      : form_(std::move(form)),
        output_(std::move(output)),
        code_(std::move(code)),
        name_(std::move(name)) {}

  Outcome call(const Chunk& rows, const CallContext& context) override {
    Outcome outcome;
    Outcome values{rows, {}};
    if (form_.values != nullptr) {
      values = form_.values->call(plain(rows), context);
      outcome.error = std::move(values.error);
    }
    std::vector<Row> made;
    for (std::int64_t i = 0; i < values.out.rows(); ++i) {
      if (i > 0 && now_ns() >= context.deadline_ns) {
        outcome.error = {};  // of a row that is left for another call
        break;
      }
      auto dataset = one(rows, values.out, i);
      if (!dataset.ok()) {
        outcome.error = std::move(dataset).status();
        break;
      }
      Tensor value = make_variant(std::make_shared<DatasetValue>(std::move(dataset).value()));
      made.push_back(Row{{std::move(value)}, {}});
    }
    if (!made.empty()) outcome.out = Chunk::from_rows(output_, std::move(made));
    return outcome;
  }

  const DatasetTemplate& form() const { return form_; }
  StructurePtr output() const override { return output_; }
  std::string code() const override { return code_; }
  std::string name() const override { return name_; }
  bool holds_interpreter() const override { return false; }
  bool pure() const override { return form_.values == nullptr || form_.values->pure(); }

 private:
  // The components that are not datasets.
  static Chunk plain(const Chunk& rows) {
    std::vector<StructurePtr> leaves;
    std::vector<Column> columns;
    const std::vector<const Structure*> all = rows.structure()->leaves();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]->kind() != Structure::Kind::kTensor) continue;
      leaves.push_back(Structure::tensor(all[i]->dtype(), all[i]->shape()));
      columns.push_back(rows.columns()[i]);
    }
    return {Structure::tuple(std::move(leaves)), rows.rows(), std::move(columns), Origins()};
  }

  Result<NodePtr> one(const Chunk& rows, const Chunk& values, std::int64_t i) const {
    std::vector<NodePtr> datasets;
    if (!form_.given.empty()) {
      const std::vector<const Structure*> leaves = rows.structure()->leaves();
      for (std::size_t c = 0; c < leaves.size(); ++c) {
        if (leaves[c]->kind() != Structure::Kind::kDataset) continue;
        SW_ASSIGN(NodePtr dataset, dataset_result(rows.columns()[c].row(i), name_));
        datasets.push_back(std::move(dataset));
      }
    }
    std::vector<Tensor> parts;
    if (form_.values != nullptr) parts = values.row(i).values;
    return Instance(form_, parts, datasets).make(form_.dataset);
  }

  const DatasetTemplate form_;
  const StructurePtr output_;
  const std::string code_;
  const std::string name_;
};

// What a call would draw or make anew, a form would only have once.
Status check(const Node& node, const std::vector<NodePtr>& given) {
  for (const NodePtr& each : given) {
    if (each.get() == &node) return {};
  }
  for (const ParamDef& param : node.op().params) {
    const bool draws = param.name == "seed" || param.type == ParamType::kObject;
    if (draws && !is_none(node.param(param.name))) {
      return Status::error(ErrorKind::kUser, Code::kUnimplemented, "a form has no ", node.op().name,
                           "(", param.name, "=...)");
    }
  }
  for (const NodePtr& input : node.inputs()) SW_RETURN_IF_ERROR(check(*input, given));
  return {};
}

}  // namespace

const DatasetTemplate* template_of(const Function& function) {
  const auto* made = dynamic_cast<const TemplateFunction*>(&function);
  return made == nullptr ? nullptr : &made->form();
}

Result<FunctionPtr> make_template_function(DatasetTemplate form, StructurePtr output,
                                           std::string code, std::string name) {
  SW_RETURN_IF_ERROR(check(*form.dataset, form.given));
  return FunctionPtr(std::make_shared<TemplateFunction>(std::move(form), std::move(output),
                                                        std::move(code), std::move(name)));
}

}  // namespace spillway
