#include "workers/mpi/open_mpi.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace assay::mpi {
namespace {

/// The name of `value` among those of `names`, or its digits.
std::string name_of(MPI_T_enum names, int value) {
  int count = 0;
  std::array<char, 256> text{};
  int length = static_cast<int>(text.size());
  if (names == MPI_T_ENUM_NULL || MPI_T_enum_get_info(names, &count, text.data(), &length) != MPI_SUCCESS) count = 0;
  for (int i = 0; i < count; ++i) {
    int found = 0;
    length = static_cast<int>(text.size());
    if (MPI_T_enum_get_item(names, i, &found, text.data(), &length) == MPI_SUCCESS && found == value) {
      return text.data();
    }
  }
  return fmt::format("{}", value);
}

/// Reads a parameter that is a number, true or false, or one of several names.
std::string read_value(int index) {
  int verbosity = 0, bind = 0, scope = 0, length = 0, elements = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum names = MPI_T_ENUM_NULL;
  check_call(MPI_T_cvar_get_info(index, nullptr, &length, &verbosity, &type, &names, nullptr, &length, &bind, &scope),
             "MPI_T_cvar_get_info");
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  check_call(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &elements), "MPI_T_cvar_handle_alloc");
  int number = 0;
  bool truth = false;
  const bool is_bool = type == MPI_C_BOOL;
  const int code = MPI_T_cvar_read(handle, is_bool ? static_cast<void*>(&truth) : static_cast<void*>(&number));
  MPI_T_cvar_handle_free(&handle);
  check_call(code, "MPI_T_cvar_read");
  return name_of(names, is_bool ? static_cast<int>(truth) : number);
}

}  // namespace

void check_call(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw std::runtime_error(fmt::format("{} failed: {}", what, text.data()));
}

void set_parameter(const std::string& name, const std::string& value) {
  setenv(("OMPI_MCA_" + name).c_str(), value.c_str(), 1);
}

std::optional<std::string> read_parameter(const std::string& name) {
  int provided = 0;
  int index = 0;
  check_call(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
  std::optional<std::string> value;
  if (MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS) value = read_value(index);
  MPI_T_finalize();
  return value;
}

std::string library_release() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all = text.data();  // "Open MPI v4.1.4, package: …"
  const auto begin = all.find('v') + 1;
  return all.substr(begin, all.find(',') - begin);
}

}  // namespace assay::mpi
