#include "cli/commands/predict/predict_pictures.hpp"

#include <filesystem>

#include "assay/core/clock.hpp"
#include "assay/core/version.hpp"
#include "assay/report/page.hpp"
#include "assay/report/subjects/plan/plan_pictures.hpp"
#include "cli/commands/report_form.hpp"
#include "cli/output.hpp"

namespace assay::cli {

void write_pictures(const PictureFiles& files, const std::string& title, const std::vector<std::string>& sources,
                    std::vector<report::Picture> pictures, const std::string& words) {
  if (!files.folder.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(files.folder, ignored);
    for (const auto& picture : pictures) {
      write_output((std::filesystem::path(files.folder) / (picture.id + ".svg")).string(), standalone_svg(picture));
    }
  }
  if (files.page.empty()) return;
  report::ReportPage page;
  page.title = title;
  page.created_utc = utc_now();
  page.assay_version = kVersion;
  page.sources = sources;
  page.pictures = std::move(pictures);
  for (auto& picture : page.pictures) picture.command = words;
  page.footer = "Predicted, not measured: ranges are 90 % and say what they rest on in the command's own answer.";
  write_output(files.page, html_page(page, report_form()));
}

double device_bytes(const predict::DeviceSheet& sheet) {
  return sheet.memory_bytes * 1e-9 * 1024 * 1024 * 1024;
}

}  // namespace assay::cli
