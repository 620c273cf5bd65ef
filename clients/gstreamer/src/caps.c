/* Caps of a format (docs/gstreamer.md). */
#include "caps.h"

#include <gst/audio/audio.h>

#define UNKNOWN "application/x-framecast"
#define CHANNELS_MAX 64

void description_clear(Description *description) {
    gst_clear_caps(&description->caps);
    *description = (Description){.duration = GST_CLOCK_TIME_NONE};
}

/* Planes and strides, where GStreamer can name them. */
static gboolean take_planes(Description *description, const fc_picture *picture) {
    if (picture->planes != (int32_t)GST_VIDEO_INFO_N_PLANES(&description->video)) {
        return FALSE;
    }
    description->is_plain = TRUE;
    for (int i = 0; i < picture->planes; i++) {
        if (picture->plane[i].stride > G_MAXINT) {
            return FALSE;
        }
        description->offset[i] = (gsize)picture->plane[i].offset;
        description->stride[i] = (gint)picture->plane[i].stride;
        description->is_plain &= description->offset[i] == GST_VIDEO_INFO_PLANE_OFFSET(&description->video, i)
                                 && description->stride[i] == GST_VIDEO_INFO_PLANE_STRIDE(&description->video, i);
    }
    return TRUE;
}

/* Bytes of a row that a component's pixels take, from the row's begin on. */
static guint64 row_bytes(const GstVideoInfo *video, guint component) {
    guint64 pixels = (guint64)GST_VIDEO_INFO_COMP_WIDTH(video, component);
    return pixels * (guint64)GST_VIDEO_INFO_COMP_PSTRIDE(video, component);
}

/* Sets how far the planes reach. FALSE where rows overlap, or the end is beyond any frame. */
static gboolean measure(Description *description) {
    const GstVideoInfo *video = &description->video;
    description->bytes_min = 0;
    for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(video); i++) {
        guint plane = (guint)GST_VIDEO_INFO_COMP_PLANE(video, i);
        guint64 rows = (guint64)GST_VIDEO_INFO_COMP_HEIGHT(video, i);
        guint64 stride = (guint64)description->stride[plane];
        guint64 row = row_bytes(video, i);
        /* Rows and strides are below 2^32. */
        guint64 length = (rows - 1) * stride + row;
        if (row > stride || description->offset[plane] > G_MAXINT64 - length) {
            return FALSE;
        }
        description->bytes_min = MAX(description->bytes_min, description->offset[plane] + length);
    }
    return TRUE;
}

static void set_range(GstCaps *caps, const GstVideoInfo *video, fc_range range) {
    GstVideoColorimetry colorimetry = video->colorimetry;
    if (range == FC_RANGE_UNKNOWN) {
        return;
    }
    colorimetry.range = range == FC_RANGE_FULL ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
    gchar *text = gst_video_colorimetry_to_string(&colorimetry);
    if (text != NULL) {
        gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, text, NULL);
        g_free(text);
    }
}

/* Those of the key `caps`; NULL where there are none that say enough. */
static GstCaps *given_caps(const fc_format *format) {
    const char *text = fc_format_key(format, "caps");
    GstCaps *caps = text == NULL ? NULL : gst_caps_from_string(text);
    if (caps != NULL && !gst_caps_is_fixed(caps)) {
        gst_clear_caps(&caps);
    }
    return caps;
}

/* Those of the key, which may say more, where they are of the same samples or pixels as these. Takes these. */
static GstCaps *fuller_caps(GstCaps *caps, const fc_format *format) {
    static const gchar *const FIELDS[] = {"format", "width", "height", "layout", "rate", "channels"};
    GstCaps *given = given_caps(format);
    gboolean agree = given != NULL;
    for (guint i = 0; i < G_N_ELEMENTS(FIELDS) && agree; i++) {
        const GstStructure *one = gst_caps_get_structure(caps, 0);
        const GstStructure *other = gst_caps_get_structure(given, 0);
        const GValue *value = gst_structure_get_value(one, FIELDS[i]);
        const GValue *fuller = gst_structure_get_value(other, FIELDS[i]);
        agree = gst_structure_has_name(other, gst_structure_get_name(one))
                && (value == NULL || (fuller != NULL && gst_value_compare(value, fuller) == GST_VALUE_EQUAL));
    }
    gst_clear_caps(agree ? &caps : &given);
    return agree ? given : caps;
}

static GstCaps *video_caps(Description *description, const fc_format *format) {
    const fc_picture *picture = format->picture;
    GstVideoFormat pixels = picture->gstreamer == NULL ? GST_VIDEO_FORMAT_UNKNOWN
                                                       : gst_video_format_from_string(picture->gstreamer);
    description->is_video = pixels != GST_VIDEO_FORMAT_UNKNOWN
                            && gst_video_info_set_format(&description->video, pixels, (guint)picture->width,
                                                         (guint)picture->height)
                            && take_planes(description, picture) && measure(description);
    if (!description->is_video) {
        description->bytes_min = 0;
        return NULL;
    }
    description->bytes_used = description->is_plain ? GST_VIDEO_INFO_SIZE(&description->video) : 0;
    gint numerator = format->rate == NULL ? 0 : format->rate->numerator;
    gint denominator = format->rate == NULL ? 1 : format->rate->denominator;
    GstCaps *caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, picture->gstreamer, "width", G_TYPE_INT,
                                        picture->width, "height", G_TYPE_INT, picture->height, "framerate",
                                        GST_TYPE_FRACTION, numerator, denominator, NULL);
    set_range(caps, &description->video, picture->range);
    return fuller_caps(caps, format);
}

static GstAudioFormat audio_format(const fc_tensor *tensor) {
    if (tensor->lanes != 1) {
        return GST_AUDIO_FORMAT_UNKNOWN;
    }
    switch (tensor->code << 8 | tensor->bits) {
    case 0 << 8 | 8: return GST_AUDIO_FORMAT_S8;
    case 0 << 8 | 16: return GST_AUDIO_FORMAT_S16LE;
    case 0 << 8 | 32: return GST_AUDIO_FORMAT_S32LE;
    case 1 << 8 | 8: return GST_AUDIO_FORMAT_U8;
    case 1 << 8 | 16: return GST_AUDIO_FORMAT_U16LE;
    case 1 << 8 | 32: return GST_AUDIO_FORMAT_U32LE;
    case 2 << 8 | 32: return GST_AUDIO_FORMAT_F32LE;
    case 2 << 8 | 64: return GST_AUDIO_FORMAT_F64LE;
    default: return GST_AUDIO_FORMAT_UNKNOWN;
    }
}

/* Row-major, without gaps. */
static gboolean is_compact(const fc_tensor *tensor) {
    int64_t step = 1;
    for (int32_t i = tensor->dimensions; i-- > 0; step *= tensor->shape[i]) {
        if (tensor->strides[i] != step) {
            return FALSE;
        }
    }
    return TRUE;
}

static GstCaps *audio_caps(Description *description, const fc_format *format) {
    const fc_samples *samples = format->samples;
    const fc_tensor *tensor = format->tensor;
    GstAudioFormat type = tensor == NULL ? GST_AUDIO_FORMAT_UNKNOWN : audio_format(tensor);
    gint rate = samples->rate <= G_MAXINT ? (gint)samples->rate : 0;
    if (type == GST_AUDIO_FORMAT_UNKNOWN || rate < 1 || (double)rate != samples->rate || samples->channels > CHANNELS_MAX
        || !is_compact(tensor)) {
        return NULL;
    }
    guint64 sample = (guint64)samples->channels * tensor->bits / 8;
    if ((guint64)tensor->bytes % sample != 0) {
        return NULL;
    }
    description->duration = gst_util_uint64_scale((guint64)tensor->bytes / sample, GST_SECOND, (guint64)rate);
    description->bytes_min = (guint64)tensor->bytes;
    description->bytes_used = (guint64)tensor->bytes;
    GstCaps *caps = gst_caps_new_simple("audio/x-raw", "format", G_TYPE_STRING, gst_audio_format_to_string(type), "layout",
                                        G_TYPE_STRING, "interleaved", "rate", G_TYPE_INT, rate, "channels", G_TYPE_INT,
                                        samples->channels, NULL);
    if (samples->channels > 2) {
        /* Channels without a place in the room. */
        gst_caps_set_simple(caps, "channel-mask", GST_TYPE_BITMASK, (guint64)0, NULL);
    }
    return fuller_caps(caps, format);
}

static GstCaps *other_caps(const fc_format *format) {
    char text[256];
    GstCaps *caps = gst_caps_new_empty_simple(UNKNOWN);
    if (format != NULL && fc_format_text(format, text, sizeof text) > 0 && g_utf8_validate(text, -1, NULL)) {
        gst_caps_set_simple(caps, "frames", G_TYPE_STRING, text, NULL);
    }
    return caps;
}

void description_set(Description *description, const fc_format *format) {
    description_clear(description);
    if (format != NULL && format->rate != NULL) {
        description->duration =
            gst_util_uint64_scale(GST_SECOND, (guint64)format->rate->denominator, (guint64)format->rate->numerator);
    }
    if (format != NULL && format->picture != NULL) {
        description->caps = video_caps(description, format);
    } else if (format != NULL && format->samples != NULL) {
        description->caps = audio_caps(description, format);
    }
    if (description->caps == NULL && format != NULL) {
        description->caps = given_caps(format);
    }
    if (description->caps == NULL) {
        description->caps = other_caps(format);
    }
}
