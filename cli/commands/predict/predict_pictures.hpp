#pragma once

#include <string>
#include <vector>

#include "assay/predict/devices/device_sheet.hpp"
#include "assay/report/pictures/picture.hpp"

namespace assay::cli {

/// Where pictures of a prediction go.
struct PictureFiles {
  std::string folder;  ///< as SVG, a file each; empty: nowhere
  std::string page;    ///< one HTML file; empty: none

  bool asked() const { return !folder.empty() || !page.empty(); }
};

/// Writes what was asked for. `sources` say what the page was made from, `words` what shows the same in a terminal.
void write_pictures(const PictureFiles& files, const std::string& title, const std::vector<std::string>& sources,
                    std::vector<report::Picture> pictures, const std::string& words);

/// Memory of a device, beside which a picture shows what a step needs: makers' GB of it are GiB.
double device_bytes(const predict::DeviceSheet& sheet);

}  // namespace assay::cli
