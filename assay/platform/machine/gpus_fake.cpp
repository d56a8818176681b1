// A library with the functions of NVIDIA's that read_gpus asks for: two GPUs, the second without a memory reading. Only
// for gpus_test.cpp.
#include <cstring>

extern "C" {
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int devices[2];
  *device = &devices[index];
  devices[index] = static_cast<int>(index);
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::strncpy(name, *static_cast<int*>(device) == 0 ? "Imitation A100" : "Imitation T4", length);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  memory->total = 40ULL << 30;
  return *static_cast<int*>(device) == 0 ? 0 : 3;  // 3: not supported
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  static unsigned long long used = 1'000'000;
  *millijoules = used += 2'500;  // 2.5 J more at every reading
  return *static_cast<int*>(device) == 0 ? 0 : 3;
}
int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::strncpy(version, "535.54.03", length);
  return 0;
}
}
