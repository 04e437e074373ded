#pragma once

// All of the C++ front.
#include "spillway/dataset.h"
#include "spillway/element.h"
#include "spillway/errors.h"
#include "spillway/memory.h"
