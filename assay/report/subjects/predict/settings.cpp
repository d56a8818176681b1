#include "assay/report/subjects/predict/settings.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"

namespace assay::report {
namespace {

using predict::SettingsPrediction;
using predict::ThreadSetting;

constexpr std::size_t kMostSettings = 12;  // of one quota; JSON has all

std::string thread_numbers(const ThreadSetting& setting) {
  return fmt::format("inter_op={} intra_op={}", setting.inter_op, setting.intra_op);
}

std::string thread_machine(const SettingsPrediction& prediction) {
  const auto& machine = prediction.machine;
  auto text = fmt::format("{} core{}", machine.cores, machine.cores == 1 ? "" : "s");
  if (machine.memory_cores) text += fmt::format(", of which {:g} use up the memory", *machine.memory_cores);
  return text + (prediction.here ? ", this machine" : ", a machine that was not measured");
}

/// Places of the predictions with one quota, fastest first; those that are left out of the table are not among them.
std::vector<std::size_t> settings_rows(const SettingsPrediction& prediction, const predict::ChosenSetting& chosen) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < prediction.predictions.size(); ++i) {
    if (prediction.predictions[i].setting.quota == chosen.quota) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) {
    return prediction.predictions[a].seconds < prediction.predictions[b].seconds;
  });
  const auto must_be_shown = [&](std::size_t place) {
    return static_cast<std::int64_t>(place) == chosen.fastest || static_cast<std::int64_t>(place) == chosen.guideline;
  };
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i < kMostSettings || must_be_shown(places[i])) shown.push_back(places[i]);
  }
  return shown;
}

std::string setting_remark(const predict::ChosenSetting& chosen, std::size_t place) {
  const bool fastest = static_cast<std::int64_t>(place) == chosen.fastest;
  const bool guideline = static_cast<std::int64_t>(place) == chosen.guideline;
  return fastest ? (guideline ? "fastest; the guideline's" : "fastest") : guideline ? "the guideline's" : "";
}

Table settings_table(const SettingsPrediction& prediction, const predict::ChosenSetting& chosen) {
  const auto right = Table::Align::right;
  Table table({{"inter_op", right}, {"intra_op", right}, {"step", right}, {"CPUs", right}, {"remark"}});
  for (const auto place : settings_rows(prediction, chosen)) {
    const auto& one = prediction.predictions[place];
    table.add({std::to_string(one.setting.inter_op), std::to_string(one.setting.intra_op), format_seconds(one.seconds),
               fmt::format("{:.1f}", one.cpu_seconds / one.seconds), setting_remark(chosen, place)});
  }
  return table;
}

void add_thread_laws(const SettingsPrediction& prediction, Document& out) {
  const auto& laws = prediction.laws;
  out.heading("Laws");
  for (const auto& [name, law] : {std::pair{"heavy operators", laws.heavy}, std::pair{"light operators", laws.light}}) {
    out.item(fmt::format("{}: {:.0f} % of their time is serial, and starting threads takes {}", name, 100 * law.serial,
                         format_seconds(law.fork_seconds)));
  }
  if (laws.most_at_once) {
    out.item(fmt::format("{} runs {} operator{} at a time, whatever inter_op says", prediction.worker.name,
                         *laws.most_at_once, *laws.most_at_once == 1 ? "" : "s"));
  } else {
    out.item(
        fmt::format("handing an operator to one of several pools takes {}", format_seconds(laws.handover_seconds)));
  }
  out.item(fmt::format("idle threads keep their CPU for {:.0f} % of the time, idle pools for {:.0f} %",
                       100 * laws.thread_spin, 100 * laws.pool_spin));
  out.item(fmt::format("threads beyond the cores slow operators on several of them down by the power of {:.1f}",
                       laws.crowding));
  std::int64_t most = 0;
  for (const auto& point : prediction.law_points) {
    most = std::max({most, point.setting.inter_op, point.setting.intra_op});
    out.item(fmt::format("{}: {} measured, {} by these laws", thread_numbers(point.setting),
                         format_seconds(point.measured_seconds), format_seconds(point.predicted_seconds)),
             2);
  }
  if (most != 0 && most < prediction.machine.cores) {
    out.item(fmt::format("they were measured with up to {} threads; beyond that they are extrapolated", most), 1,
             Tone::notice);
  }
}

}  // namespace

Document settings_prediction_document(const SettingsPrediction& prediction) {
  Document out;
  out.paragraph(fmt::format("{} on {} {}: predicted for {}", title(prediction.workload), prediction.worker.name,
                            prediction.worker.release, thread_machine(prediction)));
  out.paragraph(fmt::format("On one thread a step takes {}; its longest chain of operators takes {}.",
                            format_seconds(prediction.alone_seconds), format_seconds(prediction.critical_seconds)));
  for (const auto& chosen : prediction.chosen) {
    const auto& fastest = prediction.predictions.at(static_cast<std::size_t>(chosen.fastest));
    const auto quota = chosen.quota ? fmt::format("Quota of {:g} CPUs: ", *chosen.quota) : "";
    out.heading(
        fmt::format("{}{}, {} a step", quota, thread_numbers(fastest.setting), format_seconds(fastest.seconds)));
    out.add(settings_table(prediction, chosen));
  }
  const auto rows = prediction.predictions.size() / std::max<std::size_t>(prediction.chosen.size(), 1);
  if (rows > kMostSettings) out.paragraph(fmt::format("{} settings were predicted; --json has all of them.", rows));
  add_thread_laws(prediction, out);
  if (prediction.disturbed_settings > 0) {
    out.item(
        fmt::format("{} of the measured settings had disturbed runs alone, so these times may be too long: measure "
                    "again when the machine is idle",
                    prediction.disturbed_settings),
        1, Tone::notice);
  }
  return out;
}

}  // namespace assay::report
