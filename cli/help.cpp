#include "cli/help.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::cli {
namespace {

constexpr std::array<std::string_view, 4> kLastGroups{kSettingsGroup, kMeasureGroup, kOutputGroup, kHostGroup};

/// The workload first, then what is the command's own, then what many commands have.
std::ptrdiff_t place_of(std::string_view group) {
  if (group == kWorkloadGroup) return 0;
  const auto* const last = std::find(kLastGroups.begin(), kLastGroups.end(), group);
  return last == kLastGroups.end() ? 1 : 2 + (last - kLastGroups.begin());
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return CLI::Formatter::make_help(app, std::move(name), mode);
    return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) + ordered_groups(*app) +
           make_subcommands(app, mode) + "\n" + make_footer(app);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    auto text = CLI::Formatter::make_option_opts(option);
    const auto variable = " (" + get_label("Env") + ":" + option->get_envname() + ")";
    if (const auto at = text.find(variable); at != std::string::npos) text.erase(at, variable.size());
    return text;
  }

  std::string make_footer(const CLI::App* app) const override {
    const auto& flags = app->get_options();
    const bool has_variables =
        std::any_of(flags.begin(), flags.end(), [](const auto* flag) { return !flag->get_envname().empty(); });
    auto text = CLI::Formatter::make_footer(app);
    if (has_variables) text += "Every flag can be set in the environment too: --max-samples is ASSAY_MAX_SAMPLES.\n";
    return text;
  }

 private:
  std::string ordered_groups(const CLI::App& app) const {
    auto groups = app.get_groups();
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
    std::string text;
    for (const auto& group : groups) {
      const auto flags =
          app.get_options([&](const CLI::Option* flag) { return flag->get_group() == group && flag->nonpositional(); });
      if (!group.empty() && !flags.empty()) text += make_group(group, false, flags);
    }
    return text;
  }
};

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter() {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(34);
  return formatter;
}

void add_json_flag(CLI::App& command, bool& json, const char* help) {
  command.add_flag("--json", json, help)->group(kOutputGroup);
}

}  // namespace assay::cli
