#include "spillway/pipeline/saved_rows.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  SW_ASSIGN(const SavedPtr saved, saved_of(node));
  const StructurePtr spec = node.signature_param("element_spec");
  SW_RETURN_IF_ERROR(check_saved(*saved, spec, node.param("compression")));
  if (node.int_param("cycle_length", 1) < 1) {
    return invalid_argument("`cycle_length` must be > 0: ", node.int_param("cycle_length"));
  }
  return Inferred{spec != nullptr ? spec : saved->structure, saved->rows};
}

constexpr ParamDef kParams[] = {
    {"path", ParamType::kString, "", "the folder that save was given"},
    {"element_spec", ParamType::kSignature, "None", "must fit what was saved"},
    {"compression", ParamType::kString, "None", "must be the one it was saved with"},
    {"cycle_length", ParamType::kInt, "1", "shards that are read by turns"},
};

}  // namespace

extern constexpr OperatorDef load_operator{
    .name = "load",
    .summary = "The elements that `save` wrote.",
    .example =
        ">>> import tempfile\n"
        ">>> path = tempfile.mkdtemp()\n"
        ">>> sw.Dataset.range(3).save(path)\n"
        ">>> [int(x) for x in sw.Dataset.load(path)]\n"
        "[0, 1, 2]",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(SavedPtr saved, saved_of(context.node()));
      return open_saved_rows(context, std::move(saved),
                             context.node().int_param("cycle_length", 1));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_ASSIGN(SavedPtr saved, saved_of(context.node()));
      return index_saved_rows(context, std::move(saved));
    }};

}  // namespace spillway
