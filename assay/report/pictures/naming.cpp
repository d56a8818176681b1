#include "assay/report/pictures/naming.hpp"

#include <algorithm>
#include <map>

#include "assay/report/markup.hpp"

namespace assay::report {
namespace {

/// A trial in words that can be left out one by one.
std::vector<std::string> parts_of(const Named& named) {
  const auto& workload = named.trial->workload;
  Workload plain;
  plain.network = workload.network;
  plain.mode = workload.mode;
  plain.batch = workload.batch;
  const auto size = title(plain).size();  // what stands after it are precision, data and options
  auto rest = title(workload);
  rest.erase(0, std::min(rest.size(), size + 1));
  const auto how = conditions(*named.trial);
  return {workload.network,
          name_of(workload.mode),
          fmt::format("b{}", workload.batch),
          rest,
          named.trial->worker.name,
          named.trial->worker.release,
          how == "default" ? "" : how,
          named.platform.substr(0, 8)};
}

constexpr std::size_t kPlatformPart = 7;

std::vector<bool> differing(const std::vector<std::vector<std::string>>& all) {
  std::vector<bool> differs(all.empty() ? 0 : all[0].size(), false);
  for (const auto& parts : all) {
    for (std::size_t i = 0; i < parts.size(); ++i) differs[i] = differs[i] || parts[i] != all[0][i];
  }
  return differs;
}

void join(std::string& text, const std::string& part) {
  if (!part.empty()) text += (text.empty() ? "" : " ") + part;
}

std::vector<std::vector<std::string>> all_parts(const std::vector<Named>& all) {
  std::vector<std::vector<std::string>> parts;
  for (const auto& one : all) parts.push_back(parts_of(one));
  return parts;
}

}  // namespace

std::vector<std::string> distinct_names(const std::vector<Named>& all) {
  const auto parts = all_parts(all);
  const auto differs = differing(parts);
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  for (const auto& one : parts) {
    std::string name;
    for (std::size_t i = 0; i < one.size(); ++i) {
      // A release without its worker's name says nothing, and the other way round it is too long.
      if (differs[i] || (i == 4 && differs[5])) join(name, one[i]);
    }
    if (name.empty())
      name = std::find(differs.begin(), differs.end(), true) == differs.end() ? one[0] + " " + one[4] : "default";
    const int number = ++seen[name];
    names.push_back(number == 1 ? name : fmt::format("{} ({})", name, number));
  }
  return names;
}

std::string common_name(const std::vector<Named>& all) {
  const auto parts = all_parts(all);
  const auto differs = differing(parts);
  std::string name;
  for (std::size_t i = 0; i < differs.size() && i != kPlatformPart; ++i) {
    if (!differs[i] && (i != 4 || !differs[5])) join(name, parts[0][i]);
  }
  return name;
}

std::string key_without(const Trial& trial, const std::string& platform, const std::vector<const char*>& fields) {
  auto value = to_json(trial);
  for (const char* field : fields) {
    value["workload"].erase(field);
    value["settings"].erase(field);
    value["placement"].erase(field);
  }
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + platform;
}

bool is_roof(const Workload& workload) {
  return workload.network == "gemm" || workload.network == "triad";
}

std::vector<const Result*> good_results(const Evidence& evidence) {
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  std::vector<const Result*> good;
  for (const auto& result : evidence.results) {
    if (!result.median_ns || !result.samples_per_second || *result.samples_per_second <= 0) continue;
    if (is_roof(result.trial.workload)) continue;
    const auto [it, is_new] = known.try_emplace({result.trial_id, result.platform}, good.size());
    if (is_new) {
      good.push_back(&result);
    } else {
      good[it->second] = &result;
    }
  }
  return good;
}

Mark ratio_cell(double ratio) {
  return {.shade = std::clamp(2 - ratio, 0.0, 1.0), .text = fmt::format("{:.2f}", ratio)};
}

std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> chosen;
  const std::size_t number = std::min(count, most);
  for (std::size_t i = 0; i < number; ++i) chosen.push_back(number == 1 ? 0 : i * (count - 1) / (number - 1));
  return chosen;
}

std::string command_of(const std::string& command, const Evidence& evidence) {
  return evidence.store == "assay.db" ? command : command + " --store " + shell_word(evidence.store);
}

}  // namespace assay::report
