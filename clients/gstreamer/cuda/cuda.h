/*
 * The types of CUDA's driver API that the headers of GStreamer 1.22 name, where no cuda.h of NVIDIA's is installed: Debian's
 * libgstreamer-plugins-bad1.0-dev includes one and brings none. libgstcuda looks the driver's functions up itself.
 */
#ifndef FC_GST_CUDA_TYPES_H
#define FC_GST_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define CUDAAPI

typedef int CUdevice;
typedef uintptr_t CUdeviceptr;
typedef uint64_t CUtexObject;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUarray_st *CUarray;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUgraphicsResource_st *CUgraphicsResource;

typedef enum { CUDA_SUCCESS = 0 } CUresult;
typedef enum { CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14 } CUdevice_attribute;
typedef enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2, CU_MEMORYTYPE_ARRAY = 3 } CUmemorytype;
typedef enum { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 } CUstream_flags;
typedef enum { CU_GRAPHICS_REGISTER_FLAGS_NONE = 0 } CUgraphicsRegisterFlags;
typedef enum { CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE = 0 } CUgraphicsMapResourceFlags;

typedef struct {
    size_t srcXInBytes;
    size_t srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes;
    size_t dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes;
    size_t Height;
} CUDA_MEMCPY2D;

typedef struct CUDA_RESOURCE_DESC_st CUDA_RESOURCE_DESC;
typedef struct CUDA_TEXTURE_DESC_st CUDA_TEXTURE_DESC;
typedef struct CUDA_RESOURCE_VIEW_DESC_st CUDA_RESOURCE_VIEW_DESC;

#endif
