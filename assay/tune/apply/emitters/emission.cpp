#include "assay/tune/apply/emitters/emission.hpp"

#include "assay/core/text/utf8.hpp"

namespace assay::tune {
namespace {

std::string comment(const std::string& text) {
  return "# " + printable(text, 300) + "\n";
}

}  // namespace

std::map<std::string, std::string> variables(const Emission& emission) {
  auto all = emission.told.env;
  if (emission.preload) {
    auto& list = all["LD_PRELOAD"];
    list = list.empty() ? *emission.preload : *emission.preload + ":" + list;
  }
  return all;
}

std::string value_of(const Settings& settings, const std::string& setting) {
  const json fields = to_json(settings);
  const auto& value = fields.at(setting);
  return value.is_null() ? "" : plain_text(value);
}

std::string comments(const Emission& emission, const std::vector<std::string>& cannot) {
  const auto& tuning = emission.tuning;
  auto text = comment(fmt::format("Tuning {} of {} {} for {}.", shown(tuning.name), tuning.worker.name,
                                  tuning.worker.release, tuning.goal));
  text += comment(fmt::format("Found on a machine with {}.", title(tuning.resources)));
  for (const auto& line : emission.told.code) {
    text +=
        comment(fmt::format("Not set: {}={}. Write in your program: {}", line.setting, line.value.dump(), line.line));
  }
  for (const auto& setting : emission.told.untold) {
    text += comment(fmt::format("Not set: {}. Your program must set it.", setting));
  }
  for (const auto& setting : cannot) {
    const auto value = value_of(tuning.settings, setting);
    if (!value.empty()) text += comment(fmt::format("Not set: {}={}. It has no place here.", setting, value));
  }
  return text;
}

std::string queue_comment(const Emission& emission) {
  const auto queue = queue_of(emission.tuning);
  return queue ? comment(fmt::format("Not set: {}. Your server must set them.", title(*queue))) : "";
}

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string python_quoted(const std::string& text) {
  return json(text).dump();  // raw beyond ASCII: pairs of \u would be two characters in Python
}

std::string shell_exports(const Emission& emission) {
  std::string text;
  for (const auto& [name, value] : variables(emission)) {
    text += fmt::format("export {}={}", name, shell_quoted(value));
    text += name == "LD_PRELOAD" ? "\"${LD_PRELOAD:+:$LD_PRELOAD}\"\n" : "\n";
  }
  return text;
}

std::optional<std::string> python_cpus(const Emission& emission) {
  if (emission.cpus.empty()) return std::nullopt;
  return to_json(emission.cpus).dump();
}

}  // namespace assay::tune
