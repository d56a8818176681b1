#include "cli/flags/tunings.hpp"

#include "assay/store/named_artifact.hpp"
#include "assay/tune/apply/emit.hpp"
#include "cli/command.hpp"

namespace assay::cli {

tune::Tuning find_tuning(const std::string& tuned, const std::string& store) {
  if (store::names_a_file(tuned)) return tune::read_tuning(tuned);
  auto tuning = from_json<tune::Tuning>(
      store::named_artifact(store, tuned,
                            {"tuning", "--tuned", "`assay tune` makes one; a file's name ends with .json."}),
      "tuning");
  check(tuning);
  return tuning;
}

CLI::Option* add_emit_option(CLI::App& command, std::string& format) {
  const auto& formats = EnumNames<tune::EmitFormat>::names;
  return command.add_option("--emit", format, "Print the tuning for use elsewhere")
      ->check(CLI::IsMember(std::vector<std::string>(formats.begin(), formats.end())));
}

void print_emitted(const std::string& format, const tune::Tuning& tuning) {
  tune::EmitFormat known{};
  from_json_value(format, "--emit", known);
  print(tune::emit(known, tuning, tune::this_host()));
}

}  // namespace assay::cli
