#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::mpi {

/// Throws std::runtime_error with MPI's own text where `code` is no success. `what` names the call.
void check_call(int code, const char* what);

/// Sets a parameter of Open MPI by its variable, before MPI_Init.
void set_parameter(const std::string& name, const std::string& value);

/// A parameter as it took effect, after MPI_Init: the name of its value where values have names, `true` or `false`, or
/// a number. Null where Open MPI has none of that name.
std::optional<std::string> read_parameter(const std::string& name);

/// Open MPI's release, "4.1.4", from the library that is loaded.
std::string library_release();

}  // namespace assay::mpi
