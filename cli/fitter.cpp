#include "cli/fitter.hpp"

#include "cli/libexec.hpp"

namespace assay::cli {

model::Model fit_model(const model::FitRequest& request) {
  return model::parse_model(ask_libexec("assay-fit", to_json(request).dump(), true), "assay-fit");
}

}  // namespace assay::cli
