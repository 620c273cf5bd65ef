#ifndef FC_GST_FORMATS_H
#define FC_GST_FORMATS_H

#include <framecast.h>
#include <gst/audio/audio.h>
#include <gst/video/video.h>

/* Caps of buffers that are published. */
typedef struct {
    /* NULL: none came. */
    GstCaps *caps;
    /* Buffers lie in a GPU's memory; the caps are those of a copy in system memory. */
    gboolean on_device;
    gboolean is_video;
    GstVideoInfo video;
    gboolean is_audio;
    GstAudioInfo audio;
} Published;

/* Caps in a memory that cannot be read are refused; *error says how to make others. */
gboolean published_set(Published *published, GstCaps *caps, fc_error *error);
void published_clear(Published *published);

/* The CBOR of this buffer's format, FC_FORMAT_BYTES_MAX at most; length 0 where nothing is known. */
gboolean published_encode(const Published *published, GstBuffer *buffer, guint8 *bytes, gsize *length, fc_error *error);

#endif
