#pragma once

#include <string>
#include <vector>

#include "spillway/pipeline/operator.h"

namespace spillway {

// Where a value of the element goes: a parameter of a node, within it a component of an element, or
// a value a function takes from outside.
struct TemplateHole {
  NodePtr node;
  std::size_t param = 0;
  std::size_t part = 0;
  std::size_t value = 0;  // component of what `values` gives
};

// A function that makes a dataset of each element, as data: a pipeline with holes, and the graph
// that computes what goes into them. Without the interpreter, and with nodes of its own for every
// element, as if the function had been called.
struct DatasetTemplate {
  NodePtr dataset;
  std::vector<TemplateHole> holes;
  std::vector<NodePtr> given;  // a node for each component of the element that is a dataset
  FunctionPtr values;          // of the other components; null: no holes
};
// kUnimplemented where a pipeline holds what every call would have to make anew.
Result<FunctionPtr> make_template_function(DatasetTemplate form, StructurePtr output,
                                           std::string code, std::string name);
// What such a function is made of; null: it is another kind.
const DatasetTemplate* template_of(const Function& function);

}  // namespace spillway
