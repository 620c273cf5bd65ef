#ifndef FC_GST_CAPS_H
#define FC_GST_CAPS_H

#include <framecast.h>
#include <gst/video/video.h>

/* What the frames of one format are in GStreamer. */
typedef struct {
    GstCaps *caps;
    /* Of one frame; GST_CLOCK_TIME_NONE where it is not known. */
    GstClockTime duration;
    gboolean is_video;
    GstVideoInfo video;
    /* Of the frame: GStreamer's own layout may be another one. */
    gsize offset[GST_VIDEO_MAX_PLANES];
    gint stride[GST_VIDEO_MAX_PLANES];
    /* Whether these are GStreamer's own. */
    gboolean is_plain;
    /* A frame has so many bytes at least. */
    guint64 bytes_min;
    /* Bytes behind these are not of the caps; 0: all are. */
    guint64 bytes_used;
} Description;

/* format: NULL where nothing is known. */
void description_set(Description *description, const fc_format *format);
void description_clear(Description *description);

#endif
