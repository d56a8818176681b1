#pragma once

#include <cstddef>
#include <functional>

namespace assay::model {

/// Calls `work` for 0 to count-1, on so many threads. What it does for one number must not depend on another's. An
/// exception ends the rest and is thrown again here.
void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace assay::model
