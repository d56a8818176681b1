#include "workers/blas/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "workers/common/worker.hpp"

namespace assay::blas {
namespace {

constexpr int kRowMajor = 101;
constexpr int kNotTransposed = 111;

/// The command below puts MKL here; pip's packages are in no folder that the loader searches.
constexpr const char* kMklFolder = ".local/share/mkl";

struct Known {
  std::string name;
  std::vector<std::string> files;
  std::string install;
};

/// The module for the best instructions that this CPU has.
std::string eigen_module() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (has_avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0)
    return "assay-eigen-avx512.so";
  if (has_avx2) return "assay-eigen-avx2.so";
#endif
  return "assay-eigen-any.so";
}

std::vector<Known> known_libraries(const std::filesystem::path& folder) {
  const char* home = std::getenv("HOME");
  const auto mkl = std::filesystem::path(home == nullptr ? "/" : home) / kMklFolder / "lib";
  const std::string mkl_command =
      fmt::format("python3 -m venv ~/{0} && ~/{0}/bin/pip install mkl", std::string(kMklFolder));
  return {{"eigen", {(folder / eigen_module()).string()}, "cmake --build --preset dev --target assay-worker-blas"},
          {"openblas", {"libopenblas.so.0", "libopenblas.so"}, "apt-get install libopenblas0-pthread"},
          {"blis", {"libblis.so.4", "libblis.so"}, "apt-get install libblis4-pthread"},
          {"mkl", {mkl / "libmkl_rt.so.3", mkl / "libmkl_rt.so.2", "libmkl_rt.so.3", "libmkl_rt.so.2"}, mkl_command}};
}

Known named(const std::string& asked, const std::filesystem::path& folder) {
  std::string names;
  for (auto& known : known_libraries(folder)) {
    if (known.name == asked) return known;
    names += known.name + ", ";
  }
  if (asked.find('/') == std::string::npos && asked.find(".so") == std::string::npos)
    worker::refuse("BLAS_LIBRARY {}: there is {}or a file, such as /opt/lib/libcblas.so.", shown_path(asked), names);
  return {asked, {asked}, ""};
}

/// MKL loads its parts as it runs, and they find each other only among symbols that all see.
int loading_mode(const std::string& name) {
  return name.find("mkl") == std::string::npos ? RTLD_NOW | RTLD_LOCAL : RTLD_NOW | RTLD_GLOBAL;
}

void* loaded(const Known& known) {
  std::string reason;
  for (const auto& file : known.files) {
    if (void* const handle = dlopen(file.c_str(), loading_mode(known.name))) return handle;
    reason = dlerror();
  }
  if (known.install.empty()) worker::refuse("BLAS_LIBRARY {}: {}.", shown(known.name), reason);
  worker::refuse("BLAS_LIBRARY {}: {}. Install it: {}", shown(known.name), reason, known.install);
}

/// "0.3.21" of "OpenBLAS 0.3.21 NO_LAPACKE …" and of "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product …".
std::string first_number(const std::string& text) {
  constexpr const char* kDigits = "0123456789";
  const auto begin = text.find_first_of(kDigits);
  if (begin == std::string::npos) return text;
  auto end = text.find_first_not_of("0123456789.", begin);
  if (end == std::string::npos) end = text.size();
  while (end > begin && text[end - 1] == '.') --end;
  return text.substr(begin, end - begin);
}

std::string file_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return "unknown";
  std::error_code failed;
  const auto file = std::filesystem::canonical(map->l_name, failed);
  return failed ? std::string(map->l_name) : file.filename().string();
}

}  // namespace

Library::Library(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {
  multiply_ = find<Sgemm>("cblas_sgemm");
  strided_ = find<SgemmStrided>("cblas_sgemm_batch_strided");
  if (multiply_ == nullptr) {
    worker::refuse("BLAS_LIBRARY {}: {} has no function cblas_sgemm. Name a library with the C interface of BLAS.",
                   shown_path(name_), file_of(handle_));
  }
}

template <typename Function>
Function* Library::find(const char* symbol) const {
  return reinterpret_cast<Function*>(dlsym(handle_, symbol));
}

Library Library::open(const std::string& asked, const std::filesystem::path& folder) {
  const auto known = named(asked, folder);
  return {known.name, loaded(known)};
}

std::string Library::release() const {
  if (auto* eigen = find<const char*()>("assay_eigen_release")) return eigen();
  if (auto* openblas = find<const char*()>("openblas_get_config")) return first_number(openblas());
  if (auto* blis = find<const char*()>("bli_info_get_version_str")) return first_number(blis());
  if (auto* mkl = find<void(char*, int)>("MKL_Get_Version_String")) {
    std::array<char, 200> text{};
    mkl(text.data(), static_cast<int>(text.size()) - 1);
    return first_number(text.data());
  }
  return file_of(handle_);
}

std::optional<std::string> Library::kernels() const {
  if (auto* eigen = find<const char*()>("assay_eigen_kernels")) return eigen();
  if (auto* openblas = find<const char*()>("openblas_get_corename")) return openblas();
  auto* cpu = find<int()>("bli_arch_query_id");
  auto* text = find<const char*(int)>("bli_arch_string");
  if (cpu != nullptr && text != nullptr) return text(cpu());
  return {};
}

void Library::set_threads(int threads) const {
  if (auto* eigen = find<void(int)>("assay_eigen_set_threads")) return eigen(threads);
  if (auto* openblas = find<void(int)>("openblas_set_num_threads")) return openblas(threads);
  if (auto* blis = find<void(std::int64_t)>("bli_thread_set_num_threads")) return blis(threads);
  if (auto* mkl = find<void(int)>("MKL_Set_Num_Threads")) {
    if (auto* dynamic = find<void(int)>("MKL_Set_Dynamic")) dynamic(0);  // as many as are asked for, no fewer
    return mkl(threads);
  }
  worker::refuse(
      "intra_op {}: the library {} has no function known here that sets its threads. Set its variable by --env.",
      threads, shown_path(name_));
}

std::optional<int> Library::threads() const {
  if (auto* eigen = find<int()>("assay_eigen_threads")) return eigen();
  if (auto* openblas = find<int()>("openblas_get_num_threads")) return openblas();
  if (auto* mkl = find<int()>("MKL_Get_Max_Threads")) return mkl();
  if (auto* blis = find<std::int64_t()>("bli_thread_get_num_threads")) {
    const auto threads = blis();
    return threads < 1 ? 1 : static_cast<int>(threads);  // -1 is not set, and computes in one thread
  }
  return {};
}

void Library::multiply(const Shape& shape, const float* a, const float* b, float* c) const {
  const auto [batch, m, n, k] = shape;
  if (batch > 1 && strided_ != nullptr) {
    strided_(kRowMajor, kNotTransposed, kNotTransposed, m, n, k, 1, a, k, m * k, b, n, k * n, 0, c, n, m * n, batch);
    return;
  }
  for (int i = 0; i < batch; ++i) {
    multiply_(kRowMajor, kNotTransposed, kNotTransposed, m, n, k, 1, a, k, b, n, 0, c, n);
    a += std::ptrdiff_t{m} * k;
    b += std::ptrdiff_t{k} * n;
    c += std::ptrdiff_t{m} * n;
  }
}

}  // namespace assay::blas
