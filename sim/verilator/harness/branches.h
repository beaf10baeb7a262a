// After the C++ of a model: the end of what rare_branches.h says.
#pragma once

#undef if
