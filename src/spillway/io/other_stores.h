#pragma once

namespace spillway {

// Whether a path of another store ("s3://...") was opened or looked for in this process: from then
// on what reads files may wait long, and does so on threads that are made for waiting.
bool other_stores_used();
void note_other_store();

}  // namespace spillway
