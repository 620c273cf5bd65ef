#ifndef FC_GST_FORMATS_H
#define FC_GST_FORMATS_H

#include <framecast.h>
#include <gst/audio/audio.h>
#include <gst/video/video.h>

/* Caps of buffers that are published. */
typedef struct {
    /* NULL: none came. */
    GstCaps *caps;
    gboolean is_video;
    GstVideoInfo video;
    gboolean is_audio;
    GstAudioInfo audio;
} Published;

/* Caps in another memory than the system's are refused; *error says how to make others. */
gboolean published_set(Published *published, GstCaps *caps, fc_error *error);
void published_clear(Published *published);

/* The CBOR of this buffer's format, FC_FORMAT_BYTES_MAX at most; length 0 where nothing is known. */
gboolean published_encode(const Published *published, GstBuffer *buffer, guint8 *bytes, gsize *length, fc_error *error);

#endif
