#pragma once

namespace spillway {

// Says to the kernel that it should rather kill the processes which this one has started than this
// one, when memory runs out: they are not guarded, and a notebook can start another. Processes
// whose owner has chosen something else for them are left as they are. About 20 us a thread.
void offer_children();

// Whether a child that is forked says the same of itself from its first moment on.
void offer_forked_children(bool on);

}  // namespace spillway
