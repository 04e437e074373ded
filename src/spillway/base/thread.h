#pragma once

#include <cstddef>
#include <functional>

#include "spillway/base/status.h"

namespace spillway {

// Starts a detached thread. An error of kind resource where the system gives none: too many
// threads, or no address space for a stack. Never throws, so the caller decides what happens.
Status start_thread(std::function<void()> body);
// The same with a stack of so many bytes; only what is used of it costs memory.
Status start_thread(std::function<void()> body, std::size_t stack_bytes);

// Called with the size of a stack when a thread could not be started, before start_thread() tries
// again. Returns whether it made room. Set once, by whoever limits the address space.
using StackRoom = bool (*)(std::size_t bytes);
void set_stack_room(StackRoom make_room);

// Called before a thread is started: the C library ends the process when it has no memory for a
// thread's variables, which are allocated when the thread first looks at them.
using BeforeThread = void (*)();
void set_before_thread(BeforeThread before);

}  // namespace spillway
