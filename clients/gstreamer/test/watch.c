/*
 * Prints what framecastsrc gives: a line for each change of caps, for each buffer, and at the end its latency.
 *
 *     watch [--planes] URI
 *
 * With --planes the sink understands planes that lie elsewhere than in GStreamer's own layout. Exit status: 0 end of
 * stream, 1 an error, whose line is printed.
 */
#include <gst/gst.h>
#include <gst/video/video.h>

static gboolean understands_planes;
static GstClockTime last = GST_CLOCK_TIME_NONE;

static void print_metadata(GstBuffer *buffer) {
    GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "FramecastMetadata");
    const GValue *value = meta == NULL ? NULL : gst_structure_get_value(gst_custom_meta_get_structure(meta), "bytes");
    if (value != NULL) {
        gsize length;
        const gchar *text = g_bytes_get_data(g_value_get_boxed(value), &length);
        g_print(" metadata %.*s", (int)length, text);
    }
}

static void print_latency(GstElement *source) {
    GstQuery *query = gst_query_new_latency();
    gboolean live;
    GstClockTime least;
    if (gst_element_query(source, query)) {
        gst_query_parse_latency(query, &live, &least, NULL);
        g_print("latency %" G_GUINT64_FORMAT "%s\n", least, live ? " live" : "");
    }
    gst_query_unref(query);
}

static void print_buffer(GstBuffer *buffer) {
    GstMapInfo map;
    GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
    GstVideoMeta *planes = gst_buffer_get_video_meta(buffer);
    GstReferenceTimestampMeta *source = gst_buffer_get_reference_timestamp_meta(buffer, NULL);
    if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
        g_error("cannot map a buffer");
    }
    guint64 since = GST_CLOCK_TIME_IS_VALID(last) ? GST_BUFFER_PTS(buffer) - last : 0;
    last = GST_BUFFER_PTS(buffer);
    g_print("buffer %" G_GUINT64_FORMAT " bytes %" G_GSIZE_FORMAT " first %d", GST_BUFFER_OFFSET(buffer), map.size,
            map.data[0]);
    g_print(" since %" G_GUINT64_FORMAT " source %" G_GUINT64_FORMAT "%s%s%s", since,
            source != NULL ? source->timestamp : 0,
            GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT) ? " delta" : "",
            GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) ? " discont" : "",
            GST_MEMORY_IS_READONLY(memory) ? " readonly" : "");
    if (planes != NULL) {
        g_print(" offset %" G_GSIZE_FORMAT " stride %d", planes->offset[planes->n_planes - 1], planes->stride[0]);
    }
    print_metadata(buffer);
    g_print("\n");
    gst_buffer_unmap(buffer, &map);
}

static void print_caps(GstEvent *event) {
    GstCaps *caps;
    gst_event_parse_caps(event, &caps);
    gchar *text = gst_caps_to_string(caps);
    g_print("caps %s\n", text);
    g_free(text);
}

static GstPadProbeReturn on_data(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    (void)pad;
    (void)context;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
        print_buffer(GST_PAD_PROBE_INFO_BUFFER(info));
    } else if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
               && GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS) {
        print_caps(GST_PAD_PROBE_INFO_EVENT(info));
    } else if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM
               && GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION && understands_planes) {
        gst_query_add_allocation_meta(GST_PAD_PROBE_INFO_QUERY(info), GST_VIDEO_META_API_TYPE, NULL);
        return GST_PAD_PROBE_HANDLED;
    }
    return GST_PAD_PROBE_OK;
}

/* Whether the stream ended without an error. */
static gboolean wait_for_end(GstElement *pipeline) {
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    gboolean ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (!ended) {
        GError *error;
        gst_message_parse_error(message, &error, NULL);
        g_print("error %s\n", error->message);
        g_error_free(error);
    }
    gst_message_unref(message);
    gst_object_unref(bus);
    return ended;
}

int main(int count, char **words) {
    gst_init(&count, &words);
    understands_planes = count == 3 && g_strcmp0(words[1], "--planes") == 0;
    if (count != 2 && !understands_planes) {
        g_printerr("usage: watch [--planes] URI\n");
        return 2;
    }
    GstElement *pipeline = gst_pipeline_new(NULL);
    GstElement *source = gst_element_factory_make("framecastsrc", NULL);
    GstElement *sink = gst_element_factory_make("fakesink", NULL);
    if (source == NULL || sink == NULL) {
        g_printerr("watch: no framecastsrc; set GST_PLUGIN_PATH\n");
        return 2;
    }
    g_object_set(source, "uri", words[count - 1], NULL);
    gst_bin_add_many(GST_BIN(pipeline), source, sink, NULL);
    gst_element_link(source, sink);
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_data, NULL, NULL);
    gst_object_unref(pad);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gboolean ended = wait_for_end(pipeline);
    print_latency(source);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    gst_deinit();
    return ended ? 0 : 1;
}
