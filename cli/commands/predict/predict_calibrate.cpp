#include "cli/commands/predict/predict_calibrate.hpp"

#include "assay/core/text/file.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/predict/calibration/calibrated_rows.hpp"
#include "assay/report/subjects/calibration.hpp"
#include "cli/flags/answer.hpp"

namespace assay::cli {

void print_calibration(const std::string& rows, const std::string& devices, const AnswerFlags& wanted) {
  constexpr std::size_t kMostRowsBytes = 16u << 20;
  const auto text = read_file(rows, kMostRowsBytes);
  if (text.size() > kMostRowsBytes) {
    fail(ErrorKind::bad_input, "{} is larger than 16 MiB. Calibrate on fewer rows.", rows);
  }
  const auto steps = predict::parse_measured_steps(text, rows);
  const auto asked = devices.empty() ? std::vector<std::int64_t>{} : plan::sweep_numbers(devices, "--devices");
  const auto found = predict::calibrate_rows(steps, asked);
  answer(wanted, report::calibration_document(found), [&] { return to_json(found); });
}

}  // namespace assay::cli
