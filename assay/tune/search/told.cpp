#include "assay/tune/search/told.hpp"

#include <algorithm>
#include <array>

#include "assay/plan/text.hpp"

namespace assay::tune {
namespace {

// The math library comes before the framework: see Told.
constexpr std::array<const char*, 11> kOrder{"library_threads", "intra_op",  "inter_op", "spin",
                                             "compile",         "layout",    "loaders",  "prefetch",
                                             "bucket_bytes",    "instances", "affinity"};

/// Set around a program by Assay; a framework may need to be told besides.
bool is_set_outside(const std::string& setting) {
  return setting == "instances" || setting == "affinity";
}

std::string filled(std::string text, const std::string& value) {
  plan::replace_all(text, "{value}", value);
  return text;
}

/// The entry of this value, else that of the setting; null where there is neither.
const plan::Launch* entry_of(const std::map<std::string, plan::Launch>& launch, const std::string& setting,
                             const std::string& value) {
  auto found = launch.find(setting + "=" + value);
  if (found == launch.end()) found = launch.find(setting);
  return found == launch.end() ? nullptr : &found->second;
}

/// Sets the variables of an entry; false where one of them has another value already.
bool set_variables(const plan::Launch& entry, const std::string& value, std::map<std::string, std::string>& env) {
  const bool taken = std::any_of(entry.env.begin(), entry.env.end(), [&](const auto& variable) {
    const auto found = env.find(variable.first);
    return found != env.end() && found->second != filled(variable.second, value);
  });
  if (taken) return false;
  for (const auto& [name, text] : entry.env) env[name] = filled(text, value);
  return !entry.env.empty();
}

}  // namespace

Told tell(const std::map<std::string, plan::Launch>& launch, const Settings& settings) {
  Told told;
  const json fields = to_json(settings);
  for (const std::string setting : kOrder) {
    const json& value = fields.at(setting);
    if (value.is_null()) continue;
    const auto text = plain_text(value);
    const auto* entry = entry_of(launch, setting, text);
    if (entry == nullptr) {
      if (!is_set_outside(setting)) told.untold.push_back(setting + "=" + text);
      continue;
    }
    if (set_variables(*entry, text, told.env) || entry->code.empty()) continue;
    told.code.push_back({setting, value, filled(entry->code, text), entry->inject});
  }
  told.env.insert(settings.env.begin(), settings.env.end());
  return told;
}

}  // namespace assay::tune
