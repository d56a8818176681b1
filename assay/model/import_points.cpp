#include "assay/model/import_points.hpp"

namespace assay::model {

ImportFormat guess_format(std::string_view text, const std::string& name) {
  if (text.starts_with("collective,")) return ImportFormat::csv;
  if (text.find("# OSU ") != std::string_view::npos) return ImportFormat::osu;
  if (text.find("busbw") != std::string_view::npos) return ImportFormat::nccl_tests;
  fail(ErrorKind::bad_input,
       "{}: neither '# OSU', nor 'busbw' of nccl-tests, nor a first line 'collective,…' is in it. Say what it is with "
       "--format osu, nccl-tests or csv.",
       name);
}

std::vector<LinkPoint> import_points(ImportFormat format, std::string_view text, const ImportRequest& request) {
  std::vector<LinkPoint> points;
  switch (format) {
    case ImportFormat::osu:
      points = import_osu(text, request);
      break;
    case ImportFormat::nccl_tests:
      points = import_nccl(text, request);
      break;
    case ImportFormat::csv:
      points = import_csv(text, request);
      break;
  }
  if (points.empty()) {
    fail(ErrorKind::bad_input, "{}: no line has a size and a time, as {} prints them.", request.name, name_of(format));
  }
  return points;
}

}  // namespace assay::model
