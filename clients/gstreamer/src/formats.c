/* Formats of caps (docs/gstreamer.md). */
#include "formats.h"

#include "caps.h"
#include "device.h"

#include <string.h>

/* A format and what it points to. */
typedef struct {
    fc_format format;
    fc_picture picture;
    fc_tensor tensor;
    fc_samples samples;
    fc_rate rate;
    fc_key key;
} Parts;

G_GNUC_PRINTF(3, 4)
static gboolean refuse(fc_error *error, fc_status status, const char *text, ...) {
    va_list values;
    va_start(values, text);
    error->status = status;
    g_vsnprintf(error->text, sizeof error->text, text, values);
    va_end(values);
    return FALSE;
}

gboolean published_set(Published *published, GstCaps *caps, fc_error *error) {
    const GstCapsFeatures *features = gst_caps_get_features(caps, 0);
    published_clear(published);
    gboolean on_device = device_reads(caps, 0);
    if (!on_device && features != NULL && !gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
        gchar *names = gst_caps_features_to_string(features);
        refuse(error, FC_E_UNSUPPORTED,
               "framecastsink cannot read %s; put cudadownload, gldownload or the like in front", names);
        g_free(names);
        return FALSE;
    }
    const GstStructure *type = gst_caps_get_structure(caps, 0);
    published->on_device = on_device;
    published->caps = on_device ? gst_caps_copy(caps) : gst_caps_ref(caps);
    if (on_device) {
        gst_caps_set_features(published->caps, 0, NULL);
    }
    published->is_video = gst_structure_has_name(type, "video/x-raw") && gst_video_info_from_caps(&published->video, caps);
    if (on_device && !published->is_video) {
        return refuse(error, FC_E_UNSUPPORTED, "framecastsink reads raw pictures alone from a GPU's memory; put cudadownload in"
                      " front");
    }
    published->is_audio = gst_structure_has_name(type, "audio/x-raw") && gst_audio_info_from_caps(&published->audio, caps);
    return TRUE;
}

void published_clear(Published *published) {
    gst_clear_caps(&published->caps);
    *published = (Published){.caps = NULL};
}

/* Row-major, without gaps. */
static void set_tensor(Parts *parts, guint8 code, guint8 bits, gint dimensions, const gint64 *shape) {
    parts->tensor = (fc_tensor){.code = code, .bits = bits, .lanes = 1, .dimensions = dimensions, .bytes = bits / 8};
    for (gint i = dimensions; i-- > 0;) {
        parts->tensor.shape[i] = shape[i];
        parts->tensor.strides[i] = parts->tensor.bytes / (bits / 8);
        parts->tensor.bytes *= shape[i];
    }
    parts->format.tensor = &parts->tensor;
}

/* As PixelFormat.tensor in Java: pixels whose samples lie together, whole planes, or height × 3/2 of halved chroma. */
static void set_picture_tensor(Parts *parts, const GstVideoInfo *video) {
    const GstVideoFormatInfo *info = video->finfo;
    gint64 width = parts->picture.width;
    gint64 height = parts->picture.height;
    gint planes = parts->picture.planes;
    gint pixel = GST_VIDEO_FORMAT_INFO_PSTRIDE(info, 0);
    gint bits = GST_VIDEO_FORMAT_INFO_DEPTH(info, 0) > 8 ? 16 : 8;
    gboolean halved = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info) > 1 && GST_VIDEO_FORMAT_INFO_W_SUB(info, 1) == 1;
    gboolean halved_twice = halved && GST_VIDEO_FORMAT_INFO_H_SUB(info, 1) == 1;
    gboolean is_even = width % 2 == 0 && (!halved_twice || height % 2 == 0);
    if (strcmp(parts->picture.gstreamer, "RGB16") == 0) {
        set_tensor(parts, 1, 16, 2, (gint64[]){height, width});
    } else if (halved && !is_even) {
        return;
    } else if (planes == 1 && halved) {
        set_tensor(parts, 1, 8, 3, (gint64[]){height, width, 2});
    } else if (planes == 1) {
        gint64 samples = pixel * 8 / bits;
        set_tensor(parts, 1, (guint8)bits, samples == 1 ? 2 : 3, (gint64[]){height, width, samples});
    } else if (halved_twice) {
        set_tensor(parts, 1, (guint8)bits, 2, (gint64[]){height / 2 * 3, width});
    } else if (halved) {
        set_tensor(parts, 1, (guint8)bits, 2, (gint64[]){2 * height, width});
    } else {
        set_tensor(parts, 1, (guint8)bits, 3, (gint64[]){planes, height, width});
    }
}

/* Whether the planes lie behind each other without a gap, as the tensor's elements do. */
static gboolean is_compact(const Parts *parts, const GstVideoInfo *video) {
    gint64 end = 0;
    for (gint i = 0; i < parts->picture.planes; i++) {
        gint64 row = (gint64)GST_VIDEO_INFO_COMP_WIDTH(video, i) * GST_VIDEO_INFO_COMP_PSTRIDE(video, i);
        if (parts->picture.planes == 1 && GST_VIDEO_FORMAT_INFO_N_COMPONENTS(video->finfo) > 1
            && GST_VIDEO_FORMAT_INFO_W_SUB(video->finfo, 1) == 1) {
            /* Two pixels of YUY2 take four bytes. */
            row = 4 * (((gint64)parts->picture.width + 1) / 2);
        }
        if (parts->picture.plane[i].offset != end || parts->picture.plane[i].stride != row) {
            return FALSE;
        }
        end += row * GST_VIDEO_INFO_COMP_HEIGHT(video, i);
    }
    return TRUE;
}

/* FALSE where the buffer's planes lie where no format can say it. */
static gboolean set_picture(Parts *parts, const Published *published, GstBuffer *buffer, fc_error *error) {
    const GstVideoInfo *video = &published->video;
    /* What is downloaded lies as GStreamer lays it. */
    const GstVideoMeta *meta = published->on_device ? NULL : gst_buffer_get_video_meta(buffer);
    const gchar *name = gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(video));
    const char *pixels = fc_pixels_of_gstreamer(name);
    gint planes = (gint)GST_VIDEO_INFO_N_PLANES(video);
    gboolean has_meta = meta != NULL && (gint)meta->n_planes == planes;
    gboolean is_own = TRUE;
    parts->picture = (fc_picture){.pixels = pixels, .gstreamer = name, .width = GST_VIDEO_INFO_WIDTH(video),
                                  .height = GST_VIDEO_INFO_HEIGHT(video), .planes = planes};
    for (gint i = 0; i < planes; i++) {
        gsize offset = has_meta ? meta->offset[i] : GST_VIDEO_INFO_PLANE_OFFSET(video, i);
        gint stride = has_meta ? meta->stride[i] : GST_VIDEO_INFO_PLANE_STRIDE(video, i);
        is_own &= offset == GST_VIDEO_INFO_PLANE_OFFSET(video, i) && stride == GST_VIDEO_INFO_PLANE_STRIDE(video, i);
        parts->picture.plane[i] = (fc_plane){(gint64)offset, stride};
    }
    if (pixels == NULL) {
        return is_own || refuse(error, FC_E_UNSUPPORTED, "planes of %s lie otherwise than GStreamer lays them; put videoconvert"
                                " in front", name);
    }
    GstVideoColorRange range = video->colorimetry.range;
    parts->picture.range = range == GST_VIDEO_COLOR_RANGE_0_255    ? FC_RANGE_FULL
                           : range == GST_VIDEO_COLOR_RANGE_16_235 ? FC_RANGE_LIMITED
                                                                   : FC_RANGE_UNKNOWN;
    parts->format.picture = &parts->picture;
    if (is_compact(parts, video)) {
        set_picture_tensor(parts, video);
    }
    return TRUE;
}

static void set_samples(Parts *parts, const GstAudioInfo *audio, gsize bytes) {
    const GstAudioFormatInfo *info = audio->finfo;
    gint bits = GST_AUDIO_FORMAT_INFO_WIDTH(info);
    gboolean is_native = bits == GST_AUDIO_FORMAT_INFO_DEPTH(info)
                         && (bits == 8 || GST_AUDIO_FORMAT_INFO_ENDIANNESS(info) == G_LITTLE_ENDIAN);
    gboolean is_interleaved = GST_AUDIO_INFO_LAYOUT(audio) == GST_AUDIO_LAYOUT_INTERLEAVED;
    gsize sample = (gsize)GST_AUDIO_INFO_BPF(audio);
    if (!is_native || !is_interleaved || bytes == 0 || bytes % sample != 0) {
        return;
    }
    guint8 code = GST_AUDIO_FORMAT_INFO_IS_FLOAT(info) ? 2 : GST_AUDIO_FORMAT_INFO_IS_SIGNED(info) ? 0 : 1;
    set_tensor(parts, code, (guint8)bits, 2, (gint64[]){(gint64)(bytes / sample), GST_AUDIO_INFO_CHANNELS(audio)});
    parts->samples = (fc_samples){.rate = GST_AUDIO_INFO_RATE(audio), .channels = GST_AUDIO_INFO_CHANNELS(audio)};
    parts->format.samples = &parts->samples;
}

/* Of encoded video too. */
static void set_rate(Parts *parts, const GstCaps *caps) {
    gint numerator;
    gint denominator;
    if (gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &numerator, &denominator) && numerator > 0
        && denominator > 0) {
        parts->rate = (fc_rate){numerator, denominator};
        parts->format.rate = &parts->rate;
    }
}

static gboolean is_same_video(const GstVideoInfo *published, const GstCaps *caps) {
    GstVideoInfo video;
    if (!gst_video_info_from_caps(&video, caps)) {
        return FALSE;
    }
    if (GST_VIDEO_INFO_MULTIVIEW_MODE(published) == GST_VIDEO_MULTIVIEW_MODE_MONO) {
        /* One view is one view, also where caps do not say so. */
        GST_VIDEO_INFO_MULTIVIEW_MODE(&video) = GST_VIDEO_MULTIVIEW_MODE_MONO;
    }
    return gst_video_info_is_equal(&video, published);
}

/* Whether framecastsrc makes these caps of the format again. */
static gboolean is_complete(const Parts *parts, const Published *published) {
    Description description = {.caps = NULL};
    GstAudioInfo audio;
    if (parts->format.picture == NULL && parts->format.samples == NULL) {
        return FALSE;
    }
    description_set(&description, &parts->format);
    gboolean complete = published->is_video ? is_same_video(&published->video, description.caps)
                                            : gst_audio_info_from_caps(&audio, description.caps)
                                                  && gst_audio_info_is_equal(&audio, &published->audio);
    description_clear(&description);
    return complete;
}

gboolean published_encode(const Published *published, GstBuffer *buffer, guint8 *bytes, gsize *length, fc_error *error) {
    Parts parts = {.format = {.keys = 0}};
    gchar *text = NULL;
    *length = 0;
    if (published->caps == NULL) {
        return TRUE;
    }
    if (published->is_video && !set_picture(&parts, published, buffer, error)) {
        return FALSE;
    }
    if (published->is_audio) {
        set_samples(&parts, &published->audio, gst_buffer_get_size(buffer));
    }
    set_rate(&parts, published->caps);
    if (!is_complete(&parts, published)) {
        text = gst_caps_to_string(published->caps);
        parts.key = (fc_key){.name = "caps", .value = text};
        parts.format.keys = 1;
        parts.format.key = &parts.key;
    }
    gboolean encoded = fc_format_encode(&parts.format, bytes, FC_FORMAT_BYTES_MAX, length, error) == FC_OK;
    if (!encoded && text != NULL && strlen(text) > FC_FORMAT_BYTES_MAX / 2) {
        refuse(error, FC_E_TOO_LONG, "caps of %zu bytes are longer than a format takes; have headers in the stream, as with"
               " h264parse ! video/x-h264,stream-format=byte-stream", strlen(text));
    }
    g_free(text);
    return encoded;
}
