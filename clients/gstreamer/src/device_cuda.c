/* Frames in CUDA's memory (docs/gstreamer.md, "GPU memory"). */
#include "device.h"

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudautils.h>
#include <dlfcn.h>
#include <gst/video/gstvideopool.h>
#include <string.h>

#define FEATURE GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY
#define DEVICES_MAX 64

struct Device {
    gint ordinal;
    GstCudaContext *context;
    /* Of copies. */
    CUstream stream;
    GstBufferPool *pool;
};

/* libgstcuda knows no primary contexts. */
static struct {
    CUresult (*retain)(CUcontext *context, CUdevice device);
    CUresult (*release)(CUdevice device);
} driver;

/* One context object for all elements of this process: elements compare objects, and copy by the host between two. */
static GWeakRef shared[DEVICES_MAX];
static GMutex lock;

static gpointer fail(fc_error *error, const gchar *text, gint ordinal, const gchar *call) {
    error->status = FC_E_DEVICE;
    g_snprintf(error->text, sizeof error->text, "cuda:%d: %s%s", ordinal, call, text);
    return NULL;
}

static gboolean has_driver(void) {
    if (driver.release == NULL && gst_cuda_load_library()) {
        /* Not closed: libgstcuda keeps it, too. */
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library != NULL) {
            *(void **)&driver.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
            *(void **)&driver.release = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
        }
    }
    return driver.retain != NULL && driver.release != NULL && CuInit(0) == CUDA_SUCCESS;
}

static void release_primary(gpointer device) {
    driver.release(GPOINTER_TO_INT(device) - 1);
}

/* With the lock. Consumes the primary context where it gives an object. */
static GstCudaContext *wrap(gint ordinal, CUcontext primary, CUdevice number) {
    GstCudaContext *context = g_weak_ref_get(&shared[ordinal]);
    if (context != NULL) {
        driver.release(number);
        return context;
    }
    context = gst_cuda_context_new_wrapped(primary, number);
    if (context != NULL) {
        /* Behind the object's end: buffers hold it. */
        g_object_set_data_full(G_OBJECT(context), "framecast-primary", GINT_TO_POINTER(number + 1), release_primary);
        g_weak_ref_set(&shared[ordinal], context);
    }
    return context;
}

/* With the lock. */
static GstCudaContext *find_context(gint ordinal, GstObject *given, fc_error *error) {
    gint devices = 0;
    CUdevice number;
    CUcontext primary;
    if (!has_driver()) {
        return fail(error, "GStreamer finds no CUDA driver here; install NVIDIA's, or set device=host", ordinal, "");
    }
    if (CuDeviceGetCount(&devices) != CUDA_SUCCESS || ordinal >= MIN(devices, DEVICES_MAX)) {
        return fail(error, "this process sees no such GPU; name another one, and look at CUDA_VISIBLE_DEVICES", ordinal, "");
    }
    if (CuDeviceGet(&number, ordinal) != CUDA_SUCCESS || driver.retain(&primary, number) != CUDA_SUCCESS) {
        return fail(error, " failed; is memory left on the GPU (nvidia-smi)?", ordinal, "cuDevicePrimaryCtxRetain");
    }
    if (given != NULL && gst_cuda_context_get_handle(GST_CUDA_CONTEXT(given)) == (gpointer)primary) {
        driver.release(number);
        return gst_object_ref(GST_CUDA_CONTEXT(given));
    }
    GstCudaContext *context = wrap(ordinal, primary, number);
    if (context == NULL) {
        driver.release(number);
        return fail(error, " failed; see GST_DEBUG=cudacontext:5", ordinal, "gst_cuda_context_new_wrapped");
    }
    return context;
}

Device *device_open(gint ordinal, GstObject *given, fc_error *error) {
    CUstream stream = NULL;
    g_mutex_lock(&lock);
    GstCudaContext *context = find_context(ordinal, given, error);
    g_mutex_unlock(&lock);
    if (context == NULL) {
        return NULL;
    }
    gst_cuda_memory_init_once();
    if (gst_cuda_context_push(context)) {
        if (CuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) {
            stream = NULL;
        }
        gst_cuda_context_pop(NULL);
    }
    if (stream == NULL) {
        gst_object_unref(context);
        return fail(error, " failed; is memory left on the GPU (nvidia-smi)?", ordinal, "cuStreamCreate");
    }
    Device *device = g_new0(Device, 1);
    *device = (Device){.ordinal = ordinal, .context = context, .stream = stream};
    return device;
}

static void drop_pool(Device *device) {
    if (device->pool != NULL) {
        gst_buffer_pool_set_active(device->pool, FALSE);
        gst_clear_object(&device->pool);
    }
}

void device_close(Device *device) {
    if (device == NULL) {
        return;
    }
    drop_pool(device);
    if (gst_cuda_context_push(device->context)) {
        CuStreamDestroy(device->stream);
        gst_cuda_context_pop(NULL);
    }
    gst_object_unref(device->context);
    g_free(device);
}

gint device_ordinal(const Device *device) {
    return device->ordinal;
}

gboolean device_is_asked(GstQuery *query) {
    const gchar *type = NULL;
    return GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && gst_query_parse_context_type(query, &type)
           && g_strcmp0(type, GST_CUDA_CONTEXT_TYPE) == 0;
}

gboolean device_answers(Device *device, GstElement *element, GstQuery *query) {
    return gst_cuda_handle_context_query(element, query, device->context);
}

void device_announce(Device *device, GstElement *element) {
    GstContext *context = gst_context_new_cuda_context(device->context);
    gst_element_post_message(element, gst_message_new_have_context(GST_OBJECT(element), context));
}

void device_take_context(GstElement *element, GstContext *context, GstObject **taken) {
    GstCudaContext *found = NULL;
    if (gst_cuda_handle_set_context(element, context, -1, &found) && found != NULL) {
        gst_clear_object(taken);
        *taken = GST_OBJECT(found);
    }
}

gboolean device_reads(const GstCaps *caps, guint index) {
    const GstCapsFeatures *features = gst_caps_get_features(caps, index);
    return features != NULL && gst_caps_features_get_size(features) == 1 && gst_caps_features_contains(features, FEATURE);
}

/* Those for which GStreamer 1.22 allocates; for others it ends the process. */
static gboolean is_known(GstVideoFormat format) {
    switch (format) {
    case GST_VIDEO_FORMAT_I420:
    case GST_VIDEO_FORMAT_YV12:
    case GST_VIDEO_FORMAT_I420_10LE:
    case GST_VIDEO_FORMAT_Y42B:
    case GST_VIDEO_FORMAT_I422_10LE:
    case GST_VIDEO_FORMAT_I422_12LE:
    case GST_VIDEO_FORMAT_NV12:
    case GST_VIDEO_FORMAT_NV21:
    case GST_VIDEO_FORMAT_P010_10LE:
    case GST_VIDEO_FORMAT_P016_LE:
    case GST_VIDEO_FORMAT_Y444:
    case GST_VIDEO_FORMAT_Y444_16LE:
    case GST_VIDEO_FORMAT_RGBP:
    case GST_VIDEO_FORMAT_BGRP:
    case GST_VIDEO_FORMAT_GBR:
    case GST_VIDEO_FORMAT_GBRA:
    case GST_VIDEO_FORMAT_RGBA:
    case GST_VIDEO_FORMAT_BGRA:
    case GST_VIDEO_FORMAT_RGBx:
    case GST_VIDEO_FORMAT_BGRx:
    case GST_VIDEO_FORMAT_ARGB:
    case GST_VIDEO_FORMAT_ABGR:
    case GST_VIDEO_FORMAT_RGB:
    case GST_VIDEO_FORMAT_BGR:
    case GST_VIDEO_FORMAT_BGR10A2_LE:
    case GST_VIDEO_FORMAT_RGB10A2_LE:
    case GST_VIDEO_FORMAT_YUY2:
    case GST_VIDEO_FORMAT_UYVY: return TRUE;
    default: return FALSE;
    }
}

/* Three planes with half as many rows of chroma begin in the middle of a row there, where the height is odd: its last row would
 * not be read back. */
static gboolean has_whole_rows(const GstVideoInfo *video) {
    return GST_VIDEO_INFO_N_PLANES(video) != 3 || GST_VIDEO_FORMAT_INFO_H_SUB(video->finfo, 1) == 0
           || GST_VIDEO_INFO_HEIGHT(video) % 2 == 0;
}

GstCaps *device_caps(const Description *description) {
    const GstVideoInfo *video = &description->video;
    if (!description->is_video || !is_known(GST_VIDEO_INFO_FORMAT(video)) || !has_whole_rows(video)) {
        return NULL;
    }
    GstCaps *caps = gst_caps_copy(description->caps);
    gst_caps_set_features(caps, 0, gst_caps_features_new(FEATURE, NULL));
    return caps;
}

gboolean device_prepare(Device *device, GstCaps *caps, fc_error *error) {
    drop_pool(device);
    GstBufferPool *pool = gst_cuda_buffer_pool_new(device->context);
    GstStructure *config = gst_buffer_pool_get_config(pool);
    GstVideoInfo video;
    if (!gst_video_info_from_caps(&video, caps)) {
        gst_structure_free(config);
        gst_object_unref(pool);
        fail(error, " failed on caps of its own; set device=host", device->ordinal, "gst_video_info_from_caps");
        return FALSE;
    }
    gst_buffer_pool_config_set_params(config, caps, (guint)GST_VIDEO_INFO_SIZE(&video), 0, 0);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE)) {
        gst_object_unref(pool);
        fail(error, "no room for a picture; is memory left on the GPU (nvidia-smi)?", device->ordinal, "");
        return FALSE;
    }
    device->pool = pool;
    return TRUE;
}

/* Bytes of a plane's rows that hold pixels. */
static gsize row_bytes(const GstVideoInfo *video, guint plane, gsize *rows) {
    gsize bytes = 0;
    *rows = 0;
    for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(video); i++) {
        if ((guint)GST_VIDEO_INFO_COMP_PLANE(video, i) == plane) {
            gsize row = (gsize)GST_VIDEO_INFO_COMP_WIDTH(video, i) * (gsize)GST_VIDEO_INFO_COMP_PSTRIDE(video, i);
            bytes = MAX(bytes, row);
            *rows = MAX(*rows, (gsize)GST_VIDEO_INFO_COMP_HEIGHT(video, i));
        }
    }
    return bytes;
}

/* Queues the planes of a frame; in the context. */
static CUresult copy_planes(Device *device, const Description *description, const guint8 *from, const GstCudaMemory *memory,
                            guint8 *to) {
    const GstVideoInfo *video = &description->video;
    CUresult answer = CUDA_SUCCESS;
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(video) && answer == CUDA_SUCCESS; i++) {
        CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE};
        plane.srcDevice = (CUdeviceptr)(from + description->offset[i]);
        plane.srcPitch = (gsize)description->stride[i];
        plane.dstDevice = (CUdeviceptr)(to + GST_VIDEO_INFO_PLANE_OFFSET(&memory->info, i));
        plane.dstPitch = (gsize)GST_VIDEO_INFO_PLANE_STRIDE(&memory->info, i);
        plane.WidthInBytes = row_bytes(video, i, &plane.Height);
        answer = CuMemcpy2DAsync(&plane, device->stream);
    }
    return answer;
}

/* GStreamer 1.22 has no streams at its buffers: who reads them expects that the copy is done. */
static gboolean copy_frame(Device *device, const fc_frame *frame, const Description *description, GstMemory *memory,
                           fc_error *error) {
    GstMapInfo map;
    const void *from;
    gboolean copied = FALSE;
    if (!gst_memory_map(memory, &map, (GstMapFlags)(GST_MAP_WRITE | GST_MAP_CUDA))) {
        fail(error, " failed; see GST_DEBUG=cudaallocator:5", device->ordinal, "gst_memory_map");
        return FALSE;
    }
    if (!gst_cuda_context_push(device->context)) {
        fail(error, " failed; start the program again", device->ordinal, "cuCtxPushCurrent");
    } else {
        if (fc_frame_device(frame, device->stream, &from, error) == FC_OK) {
            CUresult queued = copy_planes(device, description, from, GST_CUDA_MEMORY_CAST(memory), map.data);
            /* Also where one failed: others may be at work. */
            copied = CuStreamSynchronize(device->stream) == CUDA_SUCCESS && queued == CUDA_SUCCESS;
            if (!copied) {
                fail(error, " failed; start the program again", device->ordinal, "a copy on the GPU");
            }
        }
        gst_cuda_context_pop(NULL);
    }
    gst_memory_unmap(memory, &map);
    return copied;
}

GstBuffer *device_buffer(Device *device, const fc_frame *frame, const Description *description, fc_error *error) {
    GstBuffer *buffer = NULL;
    if (gst_buffer_pool_acquire_buffer(device->pool, &buffer, NULL) != GST_FLOW_OK) {
        fail(error, "no room for a picture; is memory left on the GPU (nvidia-smi)? Hold fewer buffers", device->ordinal, "");
    } else if (!copy_frame(device, frame, description, gst_buffer_peek_memory(buffer, 0), error)) {
        gst_clear_buffer(&buffer);
    }
    fc_frame_release(frame);
    return buffer;
}

static gboolean download_planes(GstBuffer *buffer, const guint8 *from, const GstVideoInfo *video, guint8 *to) {
    GstCudaMemory *memory = GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0));
    const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    gboolean copied = gst_cuda_context_push(memory->context);
    if (!copied) {
        return FALSE;
    }
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(video) && copied; i++) {
        CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_HOST};
        plane.srcDevice = (CUdeviceptr)(from + (meta != NULL ? meta->offset[i] : GST_VIDEO_INFO_PLANE_OFFSET(&memory->info, i)));
        plane.srcPitch = (gsize)(meta != NULL ? meta->stride[i] : GST_VIDEO_INFO_PLANE_STRIDE(&memory->info, i));
        plane.dstHost = to + GST_VIDEO_INFO_PLANE_OFFSET(video, i);
        plane.dstPitch = (gsize)GST_VIDEO_INFO_PLANE_STRIDE(video, i);
        plane.WidthInBytes = row_bytes(video, i, &plane.Height);
        copied = CuMemcpy2D(&plane) == CUDA_SUCCESS;
    }
    gst_cuda_context_pop(NULL);
    return copied;
}

static gboolean download_mapped(GstBuffer *buffer, const GstVideoInfo *video, guint8 *to) {
    GstVideoFrame source;
    gboolean copied = gst_video_frame_map(&source, video, buffer, GST_MAP_READ);
    for (guint i = 0; copied && i < GST_VIDEO_INFO_N_PLANES(video); i++) {
        gsize rows;
        gsize bytes = row_bytes(video, i, &rows);
        for (gsize y = 0; y < rows; y++) {
            memcpy(to + GST_VIDEO_INFO_PLANE_OFFSET(video, i) + y * (gsize)GST_VIDEO_INFO_PLANE_STRIDE(video, i),
                   (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&source, i) + y * (gsize)GST_VIDEO_FRAME_PLANE_STRIDE(&source, i),
                   bytes);
        }
    }
    if (copied) {
        gst_video_frame_unmap(&source);
    }
    return copied;
}

/* Whether the buffer is one picture of this format in CUDA's memory. */
static gboolean is_picture(GstBuffer *buffer, const GstVideoInfo *video) {
    GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
    if (gst_buffer_n_memory(buffer) != 1 || !gst_is_cuda_memory(memory)) {
        return FALSE;
    }
    const GstVideoInfo *found = &GST_CUDA_MEMORY_CAST(memory)->info;
    return GST_VIDEO_INFO_FORMAT(found) == GST_VIDEO_INFO_FORMAT(video)
           && GST_VIDEO_INFO_WIDTH(found) >= GST_VIDEO_INFO_WIDTH(video)
           && GST_VIDEO_INFO_HEIGHT(found) >= GST_VIDEO_INFO_HEIGHT(video);
}

/* Between rows and planes: the ring has bytes of earlier frames there. */
static void clear_gaps(const GstVideoInfo *video, guint8 *to) {
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(video); i++) {
        gsize rows;
        gsize bytes = row_bytes(video, i, &rows);
        gsize at = GST_VIDEO_INFO_PLANE_OFFSET(video, i);
        gsize end = i + 1 < GST_VIDEO_INFO_N_PLANES(video) ? GST_VIDEO_INFO_PLANE_OFFSET(video, i + 1) : GST_VIDEO_INFO_SIZE(video);
        for (gsize y = 0; y < rows; y++) {
            gsize next = y + 1 < rows ? at + (gsize)GST_VIDEO_INFO_PLANE_STRIDE(video, i) : end;
            if (next > at + bytes) {
                memset(to + at + bytes, 0, next - at - bytes);
            }
            at = next;
        }
    }
}

gboolean device_download(GstBuffer *buffer, const GstVideoInfo *video, guint8 *to) {
    GstMapInfo map;
    clear_gaps(video, to);
    GstMemory *memory = is_picture(buffer, video) ? gst_buffer_peek_memory(buffer, 0) : NULL;
    if (memory == NULL || !gst_memory_map(memory, &map, (GstMapFlags)(GST_MAP_READ | GST_MAP_CUDA))) {
        /* Other memory under these caps. */
        return download_mapped(buffer, video, to);
    }
#if GST_CHECK_VERSION(1, 24, 0)
    gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(memory));
#endif
    gboolean copied = download_planes(buffer, map.data, video, to);
    gst_memory_unmap(memory, &map);
    return copied;
}
