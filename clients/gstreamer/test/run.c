/*
 * Runs a pipeline to its end: gst-launch-1.0 of 1.22 may hang behind an error in preroll.
 *
 *     run [--planes] PIPELINE...
 *
 * With --planes, the RGB pictures that come to its element `sink` have rows of twice the length, behind 64 bytes.
 *
 * Prints each error in a line. Exit status: 0 end of stream, 1 an error.
 */
#include <gst/video/video.h>

static void take(GstMessage *message) {
    GError *error;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(message, &error, NULL);
        g_print("error of %s: %s\n", GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), error->message);
        g_error_free(error);
    }
}

static GstBuffer *widened(GstBuffer *buffer, const GstVideoInfo *video) {
    GstVideoFrame from;
    GstVideoFrame to;
    gsize offset[GST_VIDEO_MAX_PLANES] = {64};
    gint stride[GST_VIDEO_MAX_PLANES] = {2 * GST_VIDEO_INFO_PLANE_STRIDE(video, 0)};
    GstBuffer *wide = gst_buffer_new_allocate(NULL, 64 + 2 * GST_VIDEO_INFO_SIZE(video), NULL);
    gst_buffer_memset(wide, 0, 0xee, gst_buffer_get_size(wide));
    gst_buffer_copy_into(wide, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize)-1);
    gst_buffer_add_video_meta_full(wide, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(video),
                                   (guint)GST_VIDEO_INFO_WIDTH(video), (guint)GST_VIDEO_INFO_HEIGHT(video), 1, offset, stride);
    if (!gst_video_frame_map(&from, video, buffer, GST_MAP_READ) || !gst_video_frame_map(&to, video, wide, GST_MAP_WRITE)
        || !gst_video_frame_copy(&to, &from)) {
        g_error("cannot copy a picture");
    }
    gst_video_frame_unmap(&to);
    gst_video_frame_unmap(&from);
    gst_buffer_unref(buffer);
    return wide;
}

static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    GstVideoInfo video;
    GstCaps *caps = gst_pad_get_current_caps(pad);
    (void)context;
    if (gst_video_info_from_caps(&video, caps)) {
        info->data = widened(GST_PAD_PROBE_INFO_BUFFER(info), &video);
    }
    gst_caps_unref(caps);
    return GST_PAD_PROBE_OK;
}

static void widen_pictures(GstElement *pipeline) {
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, NULL, NULL);
    gst_object_unref(pad);
    gst_object_unref(sink);
}

int main(int count, char **words) {
    gst_init(&count, &words);
    GError *error = NULL;
    gboolean widens = count > 1 && g_strcmp0(words[1], "--planes") == 0;
    GstElement *pipeline = gst_parse_launchv((const gchar **)words + (widens ? 2 : 1), &error);
    if (error != NULL) {
        g_print("error: %s\n", error->message);
        return 1;
    }
    if (widens) {
        widen_pictures(pipeline);
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstBus *bus = gst_element_get_bus(pipeline);
    gboolean ended = FALSE;
    GstClockTime wait = GST_CLOCK_TIME_NONE;
    for (GstMessage *message; (message = gst_bus_timed_pop_filtered(bus, wait, GST_MESSAGE_ERROR | GST_MESSAGE_EOS)) != NULL;) {
        gboolean is_end = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
        ended |= is_end && wait == GST_CLOCK_TIME_NONE;
        take(message);
        gst_message_unref(message);
        /* Errors may follow the first one. */
        wait = ended ? 0 : 100 * GST_MSECOND;
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
    return ended ? 0 : 1;
}
