#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace assay {

/// Takes the first item off a list such as "a, b": without the blanks around it, and its comma too.
inline std::string_view take_item(std::string_view& list) {
  const auto end = std::min(list.find(','), list.size());
  auto item = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  while (item.starts_with(' ') || item.starts_with('\t')) item.remove_prefix(1);
  while (item.ends_with(' ') || item.ends_with('\t')) item.remove_suffix(1);
  return item;
}

/// All of them. The empty list has one empty item.
inline std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  for (bool more = true; more;) {
    more = list.find(',') != std::string_view::npos;
    items.push_back(take_item(list));
  }
  return items;
}

}  // namespace assay
