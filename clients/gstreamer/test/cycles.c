/*
 * Starts and stops a pipeline again and again: at its first buffer, before it, or while no process leads.
 *
 *     cycles URI CYCLES
 *
 * Exit status 1: descriptors or threads are left, or a stop took longer than a second.
 */
#include <dirent.h>
#include <gst/gst.h>
#include <stdlib.h>

#define WARM_UP 5
#define STOP_MAX_US 1000000

static int count_of(const char *path) {
    DIR *directory = opendir(path);
    int count = 0;
    while (directory != NULL && readdir(directory) != NULL) {
        count++;
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return count;
}

static void on_handoff(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer seen) {
    (void)sink;
    (void)buffer;
    (void)pad;
    g_atomic_int_set((gint *)seen, 1);
}

/* How long the stop took, µs; −1: no buffer came. */
static gint64 cycle(const char *uri, gboolean waits) {
    gint seen = 0;
    GstElement *pipeline = gst_pipeline_new(NULL);
    GstElement *source = gst_element_factory_make("framecastsrc", NULL);
    GstElement *sink = gst_element_factory_make("fakesink", NULL);
    g_object_set(source, "uri", uri, "timeout", -1, NULL);
    g_object_set(sink, "signal-handoffs", TRUE, NULL);
    g_signal_connect(sink, "handoff", G_CALLBACK(on_handoff), &seen);
    gst_bin_add_many(GST_BIN(pipeline), source, sink, NULL);
    gst_element_link(source, sink);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    for (int i = 0; i < 10000 && waits && !g_atomic_int_get(&seen); i++) {
        g_usleep(1000);
    }
    gint64 begin = g_get_monotonic_time();
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gint64 took = g_get_monotonic_time() - begin;
    gst_object_unref(pipeline);
    return waits && !g_atomic_int_get(&seen) ? -1 : took;
}

int main(int count, char **words) {
    gst_init(&count, &words);
    if (count != 3) {
        g_printerr("usage: cycles URI CYCLES\n");
        return 2;
    }
    int cycles = atoi(words[2]);
    int files = 0;
    int threads = 0;
    gint64 longest = 0;
    gchar *absent = g_strdup_printf("%s-absent", words[1]);
    for (int i = 0; i < cycles + WARM_UP; i++) {
        gboolean is_led = i % 5 != 4;
        gint64 took = cycle(is_led ? words[1] : absent, is_led && i % 5 != 3);
        if (took < 0) {
            g_print("cycle %d: no buffer came\n", i);
            return 1;
        }
        longest = MAX(longest, took);
        if (i == WARM_UP - 1) {
            files = count_of("/proc/self/fd");
            threads = count_of("/proc/self/task");
        }
    }
    int files_left = count_of("/proc/self/fd") - files;
    int threads_left = count_of("/proc/self/task") - threads;
    g_print("%d starts and stops: %d descriptors and %d threads left, longest stop %" G_GINT64_FORMAT " ms\n", cycles, files_left,
            threads_left, longest / 1000);
    g_free(absent);
    /* GLib keeps a thread or two of its pool. */
    return files_left > 0 || threads_left > 2 || longest > STOP_MAX_US ? 1 : 0;
}
