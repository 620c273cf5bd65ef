/*
 * Runs a pipeline to its end: gst-launch-1.0 of 1.22 may hang behind an error in preroll.
 *
 *     run PIPELINE...
 *
 * Prints each error in a line. Exit status: 0 end of stream, 1 an error.
 */
#include <gst/gst.h>

static void take(GstMessage *message) {
    GError *error;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(message, &error, NULL);
        g_print("error of %s: %s\n", GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), error->message);
        g_error_free(error);
    }
}

int main(int count, char **words) {
    gst_init(&count, &words);
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launchv((const gchar **)words + 1, &error);
    if (error != NULL) {
        g_print("error: %s\n", error->message);
        return 1;
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
