#include "cli/commands/show_network.hpp"

#include "assay/plan/sweeps/axis.hpp"
#include "assay/report/subjects/network.hpp"
#include "cli/command.hpp"

namespace assay::cli {

network::Options network_options(const NetworkFlags& flags) {
  network::Options options;
  for (const auto& text : flags.options) {
    const auto [name, value] = split_assignment(text, "--option");
    const std::vector<plan::Written> written{{value, false, ""}};
    const auto values = plan::axis_values(plan::axis_name("options." + name), written);
    if (values.size() != 1 || !values[0].value) {
      fail(ErrorKind::usage, "--option: {} has not one value; one network is shown at a time.", shown(text));
    }
    options[name] = *values[0].value;
  }
  return options;
}

namespace {

void show_onnx(const NetworkFlags& flags, const report::NetworkSize& size, const AnswerFlags& flags_of_answer) {
  if (!flags.options.empty()) fail(ErrorKind::usage, "--option: an ONNX file has no options.");
  const auto summary = network::read_onnx(flags.name);
  answer(flags_of_answer, report::onnx_document(summary, size), [&] { return report::onnx_json(summary, size); });
}

void show_primitive(const NetworkFlags& flags, const Primitive& primitive, const AnswerFlags& flags_of_answer) {
  Workload workload;
  workload.network = flags.name;
  workload.batch = flags.batch;
  workload.precision = flags.precision;
  workload.options = network_options(flags);
  network::bytes_of(flags.precision);  // refuses one that there is not
  answer(flags_of_answer, report::primitive_document(primitive, workload),
         [&] { return report::primitive_json(primitive, workload); });
}

}  // namespace

void add_network_flags(CLI::App& command, NetworkFlags& flags) {
  const char* group = "Networks";
  command
      .add_option("--network", flags.name,
                  "Show layers, parameters and FLOPs of a network, of an .onnx file, or of a primitive")
      ->group(group);
  command.add_flag("--networks", flags.all, "List every network")->group(group);
  command.add_option("--option", flags.options, "Set an option of the network, NAME=VALUE; may be repeated")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--batch", flags.batch, "Count for this many samples in a step")
      ->check(CLI::Range(1, 1 << 24))
      ->group(group);
  command.add_option("--precision", flags.precision, "Give sizes in this precision")->group(group);
}

void show_network(const NetworkFlags& flags, const AnswerFlags& flags_of_answer) {
  if (flags.all) return answer(flags_of_answer, report::networks_document(), report::networks_json);
  const report::NetworkSize size{flags.batch, flags.precision};
  if (flags.name.ends_with(".onnx")) return show_onnx(flags, size, flags_of_answer);
  if (const auto* primitive = find_primitive(flags.name)) return show_primitive(flags, *primitive, flags_of_answer);
  const auto graph = network::build(flags.name, network_options(flags));
  answer(flags_of_answer, report::network_document(graph, size), [&] { return report::network_json(graph, size); });
}

}  // namespace assay::cli
