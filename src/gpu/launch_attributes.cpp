#include "gpu/launch_attributes.hpp"

#include "gpu/cuda_api.hpp"
#include "gpu/driver.hpp"
#include "gpu/narrow.hpp"

namespace fatune::gpu {

#if CUDA_VERSION >= 11080

std::vector<CUlaunchAttribute> launch_attributes(const LaunchGeometry& geometry) {
  std::vector<CUlaunchAttribute> attributes;
  const auto add = [&](CUlaunchAttributeID id) -> CUlaunchAttributeValue& {
    attributes.push_back({});
    attributes.back().id = id;
    return attributes.back().value;
  };
  if (const auto& cluster = geometry.cluster; cluster[0] * cluster[1] * cluster[2] > 1) {
    auto& dimension = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
    dimension.x = narrow(cluster[0], "cluster.x");
    dimension.y = narrow(cluster[1], "cluster.y");
    dimension.z = narrow(cluster[2], "cluster.z");
  }
  if (geometry.attributes.cooperative) {
    add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  }
  if (geometry.attributes.programmatic_stream_serialization) {
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        .programmaticStreamSerializationAllowed = 1;
  }
  if (!attributes.empty() &&
      (api().cuLaunchKernelEx == nullptr || api().cuGraphKernelNodeSetAttribute == nullptr)) {
    throw Error(ExitCode::gpu_failure, "the driver does not support launch attributes", {},
                "update the NVIDIA driver");
  }
  return attributes;
}

#endif

}  // namespace fatune::gpu
