#pragma once

#include <array>
#include <string>

#include "assay/tune/apply/launch.hpp"

namespace assay::tune {

enum class EmitFormat { env, sh, json, python, slurm, k8s, gunicorn, triton };

/// A tuning as text for another program, which `assay exec` is not there for. CPU numbers are in it only where `host`
/// has as many cores, CPUs and nodes as the machine tuned on. Throws Error{usage} where a format cannot hold it.
std::string emit(EmitFormat format, const Tuning& tuning, const Host& host);

}  // namespace assay::tune

namespace assay {

template <>
struct EnumNames<tune::EmitFormat> {
  static constexpr std::array<const char*, 8> names{"env",   "sh",  "json",     "python",
                                                    "slurm", "k8s", "gunicorn", "triton"};
};

}  // namespace assay
