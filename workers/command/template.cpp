#include "workers/command/template.hpp"

#include <set>

#include "workers/common/options.hpp"

namespace assay::command {
namespace {

using worker::refuse;

class Template {
 public:
  explicit Template(const worker::Prepare& prepare) : prepare_(prepare) {}

  std::string fill(const std::string& argument) {
    std::string out;
    for (std::size_t i = 0; i < argument.size(); ++i) {
      if (argument[i] != '{') {
        out += argument[i];
      } else if (i + 1 < argument.size() && argument[i + 1] == '{') {
        out += argument[++i];
      } else {
        const auto end = argument.find('}', i);
        if (end == std::string::npos) refuse("command: {} has a {{ without }}. Write {{{{ for {{.", shown(argument));
        out += value(argument.substr(i + 1, end - i - 1));
        i = end;
      }
    }
    return out;
  }

  void refuse_unused() const {
    for (const auto& [name, unused] : prepare_.workload.options) {
      if (name == "number" || name == "unit" || used_.count("option:" + name) > 0) continue;
      refuse("option {} is unknown here: no argument has {{option:{}}}.", shown(name), name);
    }
    if (prepare_.settings.intra_op && used_.count("threads") == 0) {
      refuse("setting intra_op has no effect here: no argument has {{threads}}.");
    }
  }

 private:
  std::string value(const std::string& name) {
    used_.insert(name);
    const Workload& workload = prepare_.workload;
    if (name == "batch") return std::to_string(workload.batch);
    if (name == "mode") return name_of(workload.mode);
    if (name == "precision") return workload.precision;
    if (name == "seed") return std::to_string(prepare_.seed);
    if (name == "rank") return std::to_string(prepare_.rank);
    if (name == "instance") return std::to_string(prepare_.instance);
    if (name == "threads") {
      if (!prepare_.settings.intra_op) refuse("command: {{threads}} needs the setting intra_op.");
      return std::to_string(*prepare_.settings.intra_op);
    }
    const std::string prefix = "option:";
    if (name.rfind(prefix, 0) == 0) {
      const auto option = workload.options.find(name.substr(prefix.size()));
      if (option == workload.options.end()) refuse("command: {{{}}} has no value; set that option.", name);
      return worker::scalar_text(option->second);
    }
    refuse(
        "command: the placeholder {{{}}} is unknown. There is {{batch}}, {{mode}}, {{precision}}, {{seed}}, {{rank}}, "
        "{{instance}}, {{threads}} and {{option:NAME}}; write {{{{ for {{.",
        name);
  }

  const worker::Prepare& prepare_;
  std::set<std::string> used_;
};

}  // namespace

std::vector<std::string> fill_template(const worker::Prepare& prepare) {
  if (!prepare.workload.command) refuse("command: the workload has no command. Give the program and its arguments.");
  Template filler(prepare);
  std::vector<std::string> argv;
  for (const auto& argument : *prepare.workload.command) {
    argv.push_back(filler.fill(argument));
    if (argv.back().find('\0') != std::string::npos) refuse("command: {} holds a zero byte.", shown(argv.back()));
  }
  filler.refuse_unused();
  return argv;
}

}  // namespace assay::command
