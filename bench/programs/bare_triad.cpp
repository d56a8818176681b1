// A plain triad, as a person would write it: a = b + 3 c on as many threads as there are CPUs. Prints bytes per second
// of its median pass, two arrays read and one written, as JSON.
//   bare_triad ELEMENTS SECONDS
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Arrays {
  explicit Arrays(std::size_t count) : a(new float[count]), b(new float[count]), c(new float[count]) {}
  std::unique_ptr<float[]> a, b, c;
};

/// Calls `part(begin, end)` on each thread with its share.
template <typename Part>
void on_threads(std::size_t elements, Part part) {
  const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([=] { part(elements * i / count, elements * (i + 1) / count); });
  for (auto& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: bare_triad ELEMENTS SECONDS\n";
    return 2;
  }
  const std::size_t elements = std::stoull(argv[1]);
  const double limit = std::stod(argv[2]);
  const Arrays arrays(elements);
  float* const a = arrays.a.get();
  float* const b = arrays.b.get();
  float* const c = arrays.c.get();
  on_threads(elements, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      a[i] = 0;
      b[i] = 1;
      c[i] = 2;
    }
  });
  std::vector<double> seconds;
  for (const auto start = Clock::now();
       seconds.empty() || Clock::now() - start < std::chrono::duration<double>(limit);) {
    const auto begin = Clock::now();
    on_threads(elements, [=](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) a[i] = b[i] + 3 * c[i];
    });
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  const double median = seconds[seconds.size() / 2];
  std::cout << "{\"triad\": " << 12.0 * static_cast<double>(elements) / median << ", \"check\": " << a[elements - 1]
            << "}\n";
}
