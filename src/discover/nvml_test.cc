#include "discover/nvml.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "discover/readers.h"

namespace exa {
namespace {

// A driver with two GPUs: one in MIG mode with one instance, one that is lost. Handles are small
// numbers; functions have NVML's own signatures.
void* handle(uintptr_t number) {
  return reinterpret_cast<void*>(number);
}
void put(char* into, unsigned size, const char* text) {
  std::snprintf(into, size, "%s", text);
}

int ok() {
  return 0;
}
int driver_not_loaded() {
  return 9;
}
int driver_version(char* text, unsigned size) {
  return put(text, size, "550.54.15"), 0;
}
int cuda_version(int* version) {
  return *version = 12040, 0;
}
int two(unsigned* count) {
  return *count = 2, 0;
}
int by_index(unsigned index, void** device) {
  return *device = handle(index + 1), index == 1 ? 15 : 0;
}
int name(void* device, char* text, unsigned size) {
  return put(text, size,
             device == handle(1) ? "NVIDIA A100-SXM4-40GB" : "NVIDIA A100-SXM4-40GB MIG 3g.20gb"),
         0;
}
int memory(void*, unsigned long long* total) {
  return *total = 42949672960ULL, 0;
}
int mig_mode(void*, unsigned* current, unsigned* pending) {
  return *current = *pending = 1, 0;
}
int seven(void*, unsigned* most) {
  return *most = 7, 0;
}
int mig_device(void*, unsigned index, void** device) {
  return *device = handle(9), index == 2 ? 0 : 6;
}
int instance(void*, unsigned* id) {
  return *id = 2, 0;
}

std::map<std::string, void*> functions;
template <typename Function>
void provide(const char* as, Function* function) {
  functions[as] = reinterpret_cast<void*>(function);
}
void* look_up(void*, const char* function) {
  auto found = functions.find(function);
  return found == functions.end() ? nullptr : found->second;
}

void provide_all() {
  functions.clear();
  provide("nvmlInit_v2", ok);
  provide("nvmlShutdown", ok);
  provide("nvmlSystemGetDriverVersion", driver_version);
  provide("nvmlSystemGetCudaDriverVersion_v2", cuda_version);
  provide("nvmlDeviceGetCount_v2", two);
  provide("nvmlDeviceGetHandleByIndex_v2", by_index);
  provide("nvmlDeviceGetName", name);
  provide("nvmlDeviceGetMemoryInfo", memory);
  provide("nvmlDeviceGetMigMode", mig_mode);
  provide("nvmlDeviceGetMaxMigDeviceCount", seven);
  provide("nvmlDeviceGetMigDeviceHandleByIndex", mig_device);
  provide("nvmlDeviceGetGpuInstanceId", instance);
}

TEST(Nvml, WhatTheDriverSaysIsReadAsAnInventory) {
  provide_all();
  auto report = nvml_report(nullptr, look_up);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(recognise_host(*report), "nvml");
  Capture capture;
  capture.outputs = {{"nvml", {}, 0, *report, ""}};
  auto inventory = read_host(capture);
  ASSERT_TRUE(inventory) << inventory.error().message;
  const std::vector<CardSet>& cards = inventory->nodes[0].cards;
  ASSERT_EQ(cards.size(), 2U);
  EXPECT_EQ(cards[0].model, "A100-SXM4-40GB");
  ASSERT_EQ(cards[0].offers.size(), 1U);
  EXPECT_EQ(cards[0].offers[0].mig_profile, "3g.20gb");
  EXPECT_EQ(cards[1].remark, "GPU is lost");
  EXPECT_THAT(cards[1].offers, testing::IsEmpty());
  EXPECT_THAT(inventory->nodes[0].software, testing::Contains(Software{"cuda", "12.4"}));
}

TEST(Nvml, ADriverThatIsNotLoadedIsNamedByItsCode) {
  provide_all();
  provide("nvmlInit_v2", driver_not_loaded);
  auto report = nvml_report(nullptr, look_up);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::probe_failed);
  EXPECT_THAT(report.error().message, testing::HasSubstr("9"));
}

TEST(Nvml, AnOldLibraryTellsLessAndDoesNotFail) {
  provide_all();
  for (const char* later :
       {"nvmlDeviceGetMigMode", "nvmlDeviceGetMemoryInfo", "nvmlSystemGetCudaDriverVersion_v2"})
    functions.erase(later);
  auto report = nvml_report(nullptr, look_up);
  ASSERT_TRUE(report);
  EXPECT_THAT(*report, testing::HasSubstr(R"("mig_mode":"N/A")"));
  functions.erase("nvmlDeviceGetCount_v2");
  EXPECT_FALSE(nvml_report(nullptr, look_up));
}

}  // namespace
}  // namespace exa
