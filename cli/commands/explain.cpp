#include <memory>

#include "assay/predict/traces/trace_explanation.hpp"
#include "assay/predict/traces/trace_files.hpp"
#include "assay/report/subjects/predict/trace.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"

namespace assay::cli {
namespace {

struct ExplainFlags {
  std::vector<std::string> traces;
  predict::StepChoice choice;
  double faster = 2;
  AnswerFlags answer;
};

int explain(const ExplainFlags& o) {
  const auto explanation = predict::explain_traces(predict::read_gpu_traces(o.traces), o.choice, o.faster);
  answer(o.answer, report::trace_document(explanation), [&] { return to_json(explanation); });
  return 0;
}

void add_explain(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<ExplainFlags>();
  command
      .add_option(
          "trace", o->traces,
          "What PyTorch's profiler wrote of GPUs (export_chrome_trace), .json or .json.gz: a file for each rank, "
          "or a folder of them")
      ->required();
  command.add_option("--step", o->choice.mark, "Take annotations with this in their name for steps, not ProfilerStep")
      ->type_name("NAME");
  command.add_option("--only", o->choice.only, "Look at this step alone, counted from 1")->type_name("N");
  command.add_option("--input", o->choice.input, "Take annotations with this in their name for waiting for input")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--faster", o->faster, "Ask what if kernels were so many times as fast")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  add_answer_flags(command, o->answer);
  command.footer(
      "assay explain trace.json.gz\n"
      "assay explain traces/ --markdown step.md\n"
      "docs/tutorials/limits_and_scale.md says what each number means.");
  command.callback([o, &invocation] { invocation.exit_code = explain(*o); });
}

}  // namespace

const Command commands::explain{
    "explain", "Explain where the step of a GPU trace goes, which rank is slow, what would help", add_explain};

}  // namespace assay::cli
