#ifndef FC_GST_DEVICE_H
#define FC_GST_DEVICE_H

#include "caps.h"

/* A GPU of framecastsrc, by GStreamer's CUDA library where the elements were built with it. */
typedef struct Device Device;

enum { DEVICE_NONE = -1, DEVICE_INVALID = -2 };

/* "cuda:N" as N, "host" as DEVICE_NONE, others as DEVICE_INVALID. */
gint device_of_text(const gchar *text);

/* Whether caps are in CUDA's memory and these elements can read it. */
gboolean device_reads(const GstCaps *caps, guint index);

/*
 * The GPU by its primary context, in which libframecast copies, too. NULL with one line that says how to fix it.
 *
 * context: of the pipeline, as device_take_context gave it; NULL for none. It is used where it has that primary context.
 */
Device *device_open(gint ordinal, GstObject *context, fc_error *error);
/* NULL is allowed. Buffers live on. */
void device_close(Device *device);
gint device_ordinal(const Device *device);

/* Elements ask each other for a context, and share it by messages of the pipeline. */
gboolean device_answers(Device *device, GstElement *element, GstQuery *query);
gboolean device_is_asked(GstQuery *query);
void device_announce(Device *device, GstElement *element);
/* Replaces *taken where the context is one of CUDA's. */
void device_take_context(GstElement *element, GstContext *context, GstObject **taken);

/* Caps of the same pictures in the GPU's memory; NULL where GStreamer has no such pictures there. */
GstCaps *device_caps(const Description *description);
/* Buffers are of these caps from now on. */
gboolean device_prepare(Device *device, GstCaps *caps, fc_error *error);
/* A copy of the frame on the GPU, finished; NULL with one line. Takes the caller's reference to the frame. */
GstBuffer *device_buffer(Device *device, const fc_frame *frame, const Description *description, fc_error *error);

/* The picture of a buffer in the GPU's memory, in GStreamer's own layout of system memory. */
gboolean device_download(GstBuffer *buffer, const GstVideoInfo *video, guint8 *to);

#endif
