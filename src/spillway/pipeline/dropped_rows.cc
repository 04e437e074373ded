#include "spillway/pipeline/dropped_rows.h"

#include "spillway/pipeline/operator.h"

namespace spillway {

Status naming_dropped(Status error, const Stage& stage, std::int64_t rows, std::int64_t begin,
                      bool own) {
  if (rows <= 0 || !is_position(error)) return error;
  ErrorInfo info = error.info();
  info.message += "\n  " + stage.name() + " drops " + std::to_string(rows) +
                  (rows == 1 ? " good element" : " good elements") + " of that batch with it (" +
                  (rows == 1 ? "" : "between ") + "number " + std::to_string(begin);
  if (rows > 1) info.message += " and " + std::to_string(begin + rows - (own ? 0 : 1));
  info.message += own ? " of its input); filter() or map() before it, which leaves out or mends "
                        "what does not fit, keeps them"
                      : " of its input); on_error=\"skip\" on the stage that failed, or "
                        "ignore_errors() before the batch, keeps them";
  return Status(std::move(info));
}

}  // namespace spillway
