#include "spillway/pipeline/generator.h"

namespace spillway {

Result<std::unique_ptr<Generator>> GeneratorFactory::resume(const AccountPtr& /*account*/,
                                                            std::string_view /*state*/) {
  return internal_bug("a generator without states is to go on with one");
}

Chunk GrowingRows::take(std::int64_t begin, std::int64_t end) {
  if (slots_.empty()) {
    std::vector<Row> rows;
    rows.reserve(static_cast<std::size_t>(end - begin));
    for (std::int64_t i = begin; i < end; ++i) {
      rows.push_back(Row{std::move(rows_[static_cast<std::size_t>(i)]), {}});
    }
    return Chunk::from_rows(structure_, std::move(rows));
  }
  std::vector<Column> columns;
  columns.reserve(slots_.size());
  for (const Tensor& slot : slots_) columns.emplace_back(slot.slice(begin, end));
  return {structure_, end - begin, std::move(columns), Origins()};
}

}  // namespace spillway
