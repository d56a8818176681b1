#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/predict/devices/device_laws.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(DeviceSheet, NamesAreFoundAsTablesAndToolsWriteThem) {
  const std::vector<std::pair<const char*, const char*>> names{{"h100_sxm", "h100"},
                                                               {"H100", "h100"},
                                                               {"NVIDIA H100 80GB HBM3", "h100"},
                                                               {"h100-80gb-pcap", "h100"},
                                                               {"a100-80gb", "a100-80"},
                                                               {"a100_sxm", "a100-80"},
                                                               {"a100-40", "a100-40"},
                                                               {"b200_sxm", "b200"},
                                                               {"GB200", "gb200"},
                                                               {"gb300", "gb300"},
                                                               {"AMD Instinct MI300X", "mi300x"},
                                                               {"L40S", "l40s"},
                                                               {"NVIDIA L40", "l40"},
                                                               {"NVIDIA L4", "l4"},
                                                               {"NVIDIA H20", "h20"},
                                                               {"NVIDIA H100 PCIe", "h100-pcie"},
                                                               {"NVIDIA A100-PCIE-40GB", "a100-40"},
                                                               {"rtx_pro_6000_server", "rtx-pro-6000"},
                                                               {"b60", "b60"}};
  for (const auto& [written, name] : names) {
    ASSERT_NE(find_device_sheet(written), nullptr) << written;
    EXPECT_EQ(find_device_sheet(written)->name, name) << written;
  }
  EXPECT_EQ(find_device_sheet("abacus"), nullptr);
  EXPECT_THAT(refusal([] { device_sheet("abacus"); }), HasSubstr("'abacus' is not in the catalogue"));
}

TEST(DeviceSheet, EveryNodeTypeIsOfADeviceOfTheCatalogue) {
  for (const auto& node : all_node_types()) {
    EXPECT_EQ(device_sheet(node.device).name, node.device);
    EXPECT_FALSE(node.source.empty());
  }
  for (const auto& sheet : all_device_sheets()) {
    check(sheet);
    EXPECT_FALSE(sheet.source.empty());
  }
}

TEST(DeviceLaws, WhatWasNotMeasuredIsBorrowedOrTheDataSheetAndSaysSo) {
  DeviceLaws lender;
  lender.sheet = device_sheet("h100");
  lender.decode = data_sheet_decode_law();
  lender.decode->basis = LawBasis::measured;
  lender.decode->range = 0.2;
  DeviceLaws device;
  device.sheet = device_sheet("h200");
  const auto whole = completed(device, {lender});
  EXPECT_EQ(whole.decode->basis, LawBasis::borrowed);
  EXPECT_GT(whole.decode->range, lender.decode->range);
  EXPECT_THAT(whole.decode->source, HasSubstr("h100"));
  EXPECT_EQ(whole.prefill->basis, LawBasis::data_sheet);
  EXPECT_EQ(whole.products.at("bf16").basis, LawBasis::data_sheet);
}

TEST(DeviceLaws, KnownDevicesAreThoseOfTheCatalogueAndWhole) {
  ASSERT_EQ(known_devices().size(), all_device_sheets().size());
  for (const auto& device : known_devices()) {
    const KernelTimes times(device);
    const double seconds = times.product({4096, 4096, 4096, ProductType::bf16});
    EXPECT_GE(seconds, 0.99 * product_roofline({4096, 4096, 4096, ProductType::bf16}, device.sheet))
        << device.sheet.name;
    EXPECT_LT(seconds, 4 * product_roofline({4096, 4096, 4096, ProductType::bf16}, device.sheet));
  }
  // Measured tables exist for these.
  for (const char* name : {"a100-80", "h100", "h200", "b200", "gb200", "l40s"}) {
    const auto device = find_device(name);
    EXPECT_EQ(device.products.at("bf16").basis, LawBasis::measured) << name;
    EXPECT_EQ(device.prefill->basis, LawBasis::measured) << name;
    EXPECT_EQ(device.decode->basis, LawBasis::measured) << name;
  }
  EXPECT_EQ(find_device("b300").decode->basis, LawBasis::borrowed);
  EXPECT_EQ(find_device("mi300x").decode->basis, LawBasis::data_sheet);
}

TEST(DeviceLaws, AFileIsReadBackAndAWrongOneRefused) {
  const auto device = find_device("h100");
  const auto again = parse_device(to_json(device).dump(), "h100.json");
  EXPECT_EQ(to_json(again), to_json(device));
  auto broken = to_json(device);
  broken["decode"]["constants"][0]["value"] = -1;
  EXPECT_THAT(refusal([&] { parse_device(broken.dump(), "h100.json"); }), HasSubstr("decode: bandwidth is -1"));
  broken = to_json(device);
  broken["sheet"]["watts"] = 0;
  EXPECT_THAT(refusal([&] { parse_device(broken.dump(), "h100.json"); }), HasSubstr("watts is 0"));
  broken["version"] = 99;
  EXPECT_THAT(refusal([&] { parse_device(broken.dump(), "h100.json"); }), HasSubstr("version 99"));
}

TEST(KernelTable, EachTableIsToldByItsColumns) {
  const auto product = parse_kernel_table("gpu,dtype,m,n,k,us\nh100,fp8,1,2,3,4\n", "gemm.csv").front();
  EXPECT_EQ(product.kind, KernelKind::product);
  EXPECT_EQ(product.product.type, ProductType::fp8);
  EXPECT_DOUBLE_EQ(product.seconds, 4e-6);
  const auto decode = parse_kernel_table(
      "kind,batch,new_tokens,cached_tokens,heads,key_value_heads,head_size,time_ms\ndecode,8,1,100,32,8,128,2\n",
      "a.csv");
  EXPECT_EQ(decode.front().kind, KernelKind::decode);
  EXPECT_DOUBLE_EQ(decode.front().seconds, 2e-3);
  const auto sum = parse_kernel_table("collective,devices,elements,us\nalltoall,8,1024,9\n", "n.csv").front();
  EXPECT_EQ(sum.collective.collective, model::Collective::all_to_all);
  EXPECT_DOUBLE_EQ(sum.collective.bytes, 2048);
  const auto nccl = parse_kernel_table("gpu,devices,message_bytes,out_of_place_us\nv100,2,1024,9\n", "n.csv").front();
  EXPECT_EQ(nccl.collective.collective, model::Collective::all_reduce);
  EXPECT_DOUBLE_EQ(nccl.collective.bytes, 1024);
}

TEST(KernelTable, AWrongCellNamesItsRow) {
  EXPECT_THAT(refusal([] { parse_kernel_table("m,n,k,us\n1,2,3,4\n1,2,0,4\n", "t.csv"); }), HasSubstr("t.csv, row 2"));
  EXPECT_THAT(refusal([] { parse_kernel_table("m,n,k,us,dtype\n1,2,3,4,fp3\n", "t.csv"); }), HasSubstr("'fp3'"));
  EXPECT_THAT(refusal([] { parse_kernel_table("devices,us\n2,3\n", "t.csv"); }), HasSubstr("elements"));
  EXPECT_THAT(refusal([] { parse_kernel_table("collective,devices,elements,us\nall_reduce,1,8,9\n", "t.csv"); }),
              HasSubstr("below 2"));
}

}  // namespace
}  // namespace assay::predict
