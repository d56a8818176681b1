#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "assay/core/text/json.hpp"

namespace assay {

enum class Affinity { none, compact, spread };

template <>
struct EnumNames<Affinity> {
  static constexpr std::array<const char*, 3> names{"none", "compact", "spread"};
};

enum class MemoryBind { none, local, interleave };

template <>
struct EnumNames<MemoryBind> {
  static constexpr std::array<const char*, 3> names{"none", "local", "interleave"};
};

enum class Allocator { system, tcmalloc, jemalloc };

template <>
struct EnumNames<Allocator> {
  static constexpr std::array<const char*, 3> names{"system", "tcmalloc", "jemalloc"};
};

/// What the operating system holds of the data set in memory when it is read.
enum class PageCache { warm, cold };

template <>
struct EnumNames<PageCache> {
  static constexpr std::array<const char*, 2> names{"warm", "cold"};
};

/// *How* a workload is computed, never changing what. Null is left to the framework.
struct Settings {
  std::optional<std::int64_t> instances;        ///< processes of the same workload side by side; null is one
  std::optional<std::int64_t> inter_op;         ///< operators run at once
  std::optional<std::int64_t> intra_op;         ///< threads of one operator
  std::optional<std::int64_t> library_threads;  ///< threads of the math library (OpenMP)
  std::optional<std::int64_t> prefill_threads;  ///< threads that read a prompt; null is as many as write the answer
  std::optional<std::int64_t> prefill_tokens;   ///< tokens of prompts that are read at once
  std::optional<Affinity> affinity;             ///< symbolic, never core numbers
  std::optional<MemoryBind> memory_bind;
  std::optional<Allocator> allocator;
  std::optional<bool> spin;                  ///< idle threads spin instead of sleeping
  std::optional<std::string> compile;        ///< the framework's compiler, by its name there
  std::optional<std::string> layout;         ///< order of tensor dimensions, such as nchw
  std::optional<std::int64_t> loaders;       ///< processes or threads that load input; 0 is the step itself
  std::optional<std::int64_t> prefetch;      ///< batches loaded ahead
  std::optional<PageCache> page_cache;       ///< of the files that are read; null is as it happens to be
  std::optional<std::int64_t> bucket_bytes;  ///< size of a gradient bucket
  std::map<std::string, std::string> env;    ///< variables set for the worker, and stored with the trial
};

template <typename V>
void describe(V& v, Settings& s) {
  v("instances", s.instances);
  v("inter_op", s.inter_op);
  v("intra_op", s.intra_op);
  v("library_threads", s.library_threads);
  v("prefill_threads", s.prefill_threads);
  v("prefill_tokens", s.prefill_tokens);
  v("affinity", s.affinity);
  v("memory_bind", s.memory_bind);
  v("allocator", s.allocator);
  v("spin", s.spin);
  v("compile", s.compile);
  v("layout", s.layout);
  v("loaders", s.loaders);
  v("prefetch", s.prefetch);
  v("page_cache", s.page_cache);
  v("bucket_bytes", s.bucket_bytes);
  v("env", s.env);
}

/// Throws Error{usage} naming the setting where a value is outside its range, where a variable's name is malformed, or
/// where it looks like a secret: settings are stored with every record.
void check(const Settings& settings);

/// "intra_op=2 affinity=compact": what is set, or "default".
std::string title(const Settings& settings);

// Instantiated once, in the source: the mapping is what costs most to compile.
extern template json to_json_value<Settings>(const Settings&);
extern template void from_json_value<Settings>(const json&, const std::string&, Settings&);

}  // namespace assay
