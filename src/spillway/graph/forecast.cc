#include "spillway/graph/forecast.h"

#include "spillway/graph/ladder.h"
#include "spillway/graph/refusal.h"
#include "spillway/io/npy_writer.h"

namespace spillway::graph {

Result<Forecast> forecast(std::span<const Operand> roots, const AccountPtr& account) {
  Forecast out;
  out.how = "whole";
  out.limit = Budget::process().limit();
  SW_ASSIGN(std::vector<Operand> pending, pending_roots(roots));
  std::vector<Scheduled> order = pending_nodes(pending);
  out.offenders = offenders(order, out.limit);
  if (pending.empty()) return out;
  SW_ASSIGN(const Decision how, decide(std::move(pending), std::move(order), account));
  out.needed = how.fitted() ? how.fit->needed() : how.needed;
  out.fits = !how.refused();
  if (!out.fits) out.how = "refused";
  if (how.fitted()) out.how = how.fit->how();
  return out;
}

Status save_npy(const Operand& root, const std::string& path, const AccountPtr& account,
                Buffer::Ask ask) {
  const Operand roots[] = {root};
  SW_ASSIGN(const std::vector<Operand> pending, pending_roots(roots));
  const Spec& spec = root.spec();
  if (!spec.shape.fully_known() || !is_plain(spec.dtype)) {
    return invalid_argument("save_npy: needs numbers of a known shape, not ", spec.to_string());
  }
  SW_ASSIGN(const std::unique_ptr<NpyWriter> writer,
            NpyWriter::create(path, spec.dtype, spec.shape));
  const std::size_t row =
      spec.shape.rank() == 0
          ? size_of(spec.dtype)
          : static_cast<std::size_t>(spec.shape.without_leading().count()) * size_of(spec.dtype);
  const Fit::Take take = [&](std::int64_t, std::int64_t n, const std::byte* rows) {
    return writer->append({rows, static_cast<std::size_t>(n) * row});
  };
  if (const Tensor* value = root.value()) {
    SW_RETURN_IF_ERROR(writer->append({value->data(), value->bytes()}));
    return writer->finish();
  }
  std::vector<Scheduled> order = pending_nodes(roots);
  SW_RETURN_IF_ERROR(read_back(order, account, ask));
  if (order.empty()) {
    SW_RETURN_IF_ERROR(writer->append({root.value()->data(), root.value()->bytes()}));
    return writer->finish();
  }
  SW_ASSIGN(const Decision how, decide({root}, std::move(order), account, Fit::Into::kRows));
  if (!how.fit->fits()) {
    return too_large(how.order, how.roots, how.fit->needed(), how.limit, account);
  }
  SW_RETURN_IF_ERROR(how.fit->run({account, ask}, take));
  return writer->finish();
}

}  // namespace spillway::graph
