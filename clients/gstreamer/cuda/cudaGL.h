/* As cuda.h beside it. */
#ifndef FC_GST_CUDA_GL_TYPES_H
#define FC_GST_CUDA_GL_TYPES_H

typedef enum { CU_GL_DEVICE_LIST_ALL = 1 } CUGLDeviceList;

#endif
