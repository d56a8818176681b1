#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/tune/tuning.hpp"

namespace assay::tune {

/// What a program's own code must say, because its framework reads no variable for it.
struct CodeLine {
  std::string setting;  ///< by name
  json value;
  std::string line;    ///< of Python
  std::string inject;  ///< module whose hook says the same; empty where there is none
};

/// How settings reach a program of one framework.
struct Told {
  std::map<std::string, std::string> env;
  std::vector<CodeLine> code;
  std::vector<std::string> untold;  ///< "loaders=4": the framework has no way that is known here
};

/// Settings in the words of the framework that `launch` describes. A variable of a setting wins over one of the same
/// name in settings.env, as it does when measured. Where two settings want one variable, the math library's has it and
/// the other becomes a line of code. Affinity, memory and allocator are set by Assay itself, and are no part of this.
Told tell(const std::map<std::string, plan::Launch>& launch, const Settings& settings);

}  // namespace assay::tune
