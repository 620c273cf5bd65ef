/* Elements without GStreamer's CUDA library. */
#include "device.h"

gboolean device_reads(const GstCaps *caps, guint index) {
    (void)caps;
    (void)index;
    return FALSE;
}

Device *device_open(gint ordinal, GstObject *context, fc_error *error) {
    (void)context;
    error->status = FC_E_UNSUPPORTED;
    g_snprintf(error->text, sizeof error->text,
               "device=cuda:%d: these elements were built without CUDA; install libgstreamer-plugins-bad1.0-dev and build them"
               " again, or set device=host", ordinal);
    return NULL;
}

void device_close(Device *device) {
    (void)device;
}

gint device_ordinal(const Device *device) {
    (void)device;
    return DEVICE_NONE;
}

gboolean device_is_asked(GstQuery *query) {
    (void)query;
    return FALSE;
}

gboolean device_answers(Device *device, GstElement *element, GstQuery *query) {
    (void)device;
    (void)element;
    (void)query;
    return FALSE;
}

void device_announce(Device *device, GstElement *element) {
    (void)device;
    (void)element;
}

void device_take_context(GstElement *element, GstContext *context, GstObject **taken) {
    (void)element;
    (void)context;
    (void)taken;
}

GstCaps *device_caps(const Description *description) {
    (void)description;
    return NULL;
}

gboolean device_prepare(Device *device, GstCaps *caps, fc_error *error) {
    (void)device;
    (void)caps;
    (void)error;
    return FALSE;
}

GstBuffer *device_buffer(Device *device, const fc_frame *frame, const Description *description, fc_error *error) {
    (void)device;
    (void)description;
    (void)error;
    fc_frame_release(frame);
    return NULL;
}

gboolean device_download(GstBuffer *buffer, const GstVideoInfo *video, guint8 *to) {
    (void)buffer;
    (void)video;
    (void)to;
    return FALSE;
}
