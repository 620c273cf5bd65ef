/*
 * Publishes 64 x 48 pictures, 25 a second, and seeks: while it waits for a subscriber; behind the end of the stream, which begins
 * another one; and in mid-stream.
 *
 *     seek URI
 *
 * The first stream has 25 pictures, the second one 50 less those between the seek and 1 s. Exit status 1: an error, or a seek
 * that took longer than a second.
 */
#include <gst/gst.h>

static gboolean seek(GstElement *pipeline, GstClockTime from, GstClockTime to) {
    gint64 begin = g_get_monotonic_time();
    gboolean done = gst_element_seek(pipeline, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
                                     GST_SEEK_TYPE_SET, (gint64)from, GST_SEEK_TYPE_SET, (gint64)to);
    gint64 took_ms = (g_get_monotonic_time() - begin) / 1000;
    g_print("seek %s after %" G_GINT64_FORMAT " ms\n", done ? "done" : "refused", took_ms);
    return done && took_ms < 1000;
}

static gboolean wait_for_end(GstElement *pipeline) {
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    gboolean ended = message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (message != NULL && !ended) {
        GError *error;
        gst_message_parse_error(message, &error, NULL);
        g_print("error %s\n", error->message);
        g_error_free(error);
    }
    gst_clear_message(&message);
    gst_object_unref(bus);
    g_print("%s\n", ended ? "end" : "no end");
    return ended;
}

static gboolean streams(GstElement *pipeline) {
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    g_usleep(300000);
    if (!seek(pipeline, 0, GST_SECOND)) {
        return FALSE;
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    if (!wait_for_end(pipeline) || !seek(pipeline, 0, 10 * GST_SECOND)) {
        return FALSE;
    }
    gint64 position = 0;
    while (position < (gint64)GST_SECOND / 2) {
        g_usleep(10000);
        gst_element_query_position(pipeline, GST_FORMAT_TIME, &position);
    }
    /* A pause, too. */
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    gst_element_get_state(pipeline, NULL, NULL, GST_SECOND);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    return seek(pipeline, GST_SECOND, 2 * GST_SECOND) && wait_for_end(pipeline);
}

int main(int count, char **words) {
    gst_init(&count, &words);
    if (count != 2) {
        g_printerr("usage: seek URI\n");
        return 2;
    }
    GstElement *pipeline = gst_parse_launch("videotestsrc ! video/x-raw,format=RGB,width=64,height=48,framerate=25/1"
                                            " ! framecastsink name=sink", NULL);
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    g_object_set(sink, "uri", words[1], NULL);
    gst_object_unref(sink);
    gboolean went_well = streams(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    return went_well ? 0 : 1;
}
