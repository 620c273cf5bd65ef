/*
 * Starts and stops a pipeline again and again: behind its first buffers, before them, or while no process leads or publishes.
 *
 *     cycles [--sink | --device] URI CYCLES
 *
 * With --device pictures lie in CUDA's memory.
 *
 * With --sink it publishes; one cycle of five waits for subscribers that do not come, and is paused and played
 * meanwhile, without waiting for states.
 *
 * Exit status 1: descriptors, threads or memory are left, or a stop took longer than a second.
 */
#include <dirent.h>
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WARM_UP 20
#define STOP_MAX_US 1000000
#define GROWTH_MAX_KIB (16 * 1024)

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

/* Resident memory of this process, KiB. */
static long resident(void) {
    gchar *text = NULL;
    long pages = 0;
    if (g_file_get_contents("/proc/self/statm", &text, NULL, NULL)) {
        sscanf(text, "%*d %ld", &pages);
    }
    g_free(text);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static gboolean publishes;
static gboolean on_device;

static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer seen) {
    (void)pad;
    (void)info;
    g_atomic_int_inc((gint *)seen);
    return GST_PAD_PROBE_OK;
}

static GstElement *make_pipeline(const char *uri, gboolean has_subscribers, gint *seen) {
    GstElement *pipeline = gst_pipeline_new(NULL);
    GstElement *source = gst_element_factory_make(publishes ? "fakesrc" : "framecastsrc", NULL);
    GstElement *sink = gst_element_factory_make(publishes ? "framecastsink" : "fakesink", NULL);
    g_object_set(publishes ? sink : source, "uri", uri, "timeout", -1, NULL);
    if (publishes) {
        g_object_set(source, "sizetype", 2, "sizemax", 5000, NULL);
        g_object_set(sink, "wait-subscribers", has_subscribers ? 0 : 60, "async", has_subscribers, NULL);
    }
    gst_bin_add_many(GST_BIN(pipeline), source, sink, NULL);
    if (on_device) {
        GstCaps *caps = gst_caps_from_string("video/x-raw(memory:CUDAMemory)");
        g_object_set(source, "device", "cuda:0", NULL);
        gst_element_link_filtered(source, sink, caps);
        gst_caps_unref(caps);
    } else {
        gst_element_link(source, sink);
    }
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, seen, NULL);
    gst_object_unref(pad);
    return pipeline;
}

/* How long the stop took, µs; −1: fewer buffers came than are waited for. */
static gint64 cycle(const char *uri, gint buffers, gboolean has_subscribers) {
    gint seen = 0;
    GstElement *pipeline = make_pipeline(uri, has_subscribers, &seen);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    for (int i = 0; i < 10000 && g_atomic_int_get(&seen) < buffers; i++) {
        g_usleep(1000);
    }
    if (!has_subscribers) {
        g_usleep(20000);
        gst_element_set_state(pipeline, GST_STATE_PAUSED);
        gst_element_set_state(pipeline, GST_STATE_PLAYING);
    }
    gint64 begin = g_get_monotonic_time();
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gint64 took = g_get_monotonic_time() - begin;
    gst_object_unref(pipeline);
    return g_atomic_int_get(&seen) < buffers ? -1 : took;
}

int main(int count, char **words) {
    gst_init(&count, &words);
    publishes = count == 4 && g_strcmp0(words[1], "--sink") == 0;
    on_device = count == 4 && g_strcmp0(words[1], "--device") == 0;
    if (count != 3 && !publishes && !on_device) {
        g_printerr("usage: cycles [--sink | --device] URI CYCLES\n");
        return 2;
    }
    const char *uri = words[count - 2];
    int cycles = atoi(words[count - 1]);
    int files = 0;
    int threads = 0;
    long memory = 0;
    gint64 longest = 0;
    gchar *absent = g_strdup_printf("%s-absent", uri);
    for (int i = 0; i < cycles + WARM_UP; i++) {
        /* A sink's second buffer comes when the first one is published. */
        gint buffers = i % 5 > 2 ? 0 : publishes ? 2 : 1;
        gboolean has_subscribers = !publishes || i % 5 != 2;
        gint64 took = cycle(i % 5 != 4 ? uri : absent, has_subscribers ? buffers : 1, has_subscribers);
        if (took < 0) {
            g_print("cycle %d: too few buffers came\n", i);
            return 1;
        }
        longest = MAX(longest, took);
        if (i == WARM_UP - 1) {
            files = count_of("/proc/self/fd");
            threads = count_of("/proc/self/task");
            memory = resident();
        }
    }
    int files_left = count_of("/proc/self/fd") - files;
    int threads_left = count_of("/proc/self/task") - threads;
    long growth = resident() - memory;
    g_print("%d starts and stops: %d descriptors and %d threads left, %ld KiB more memory, longest stop %" G_GINT64_FORMAT
            " ms\n", cycles, files_left, threads_left, growth, longest / 1000);
    g_free(absent);
    /* GLib keeps a thread or two of its pool. */
    return files_left > 0 || threads_left > 2 || growth > GROWTH_MAX_KIB || longest > STOP_MAX_US ? 1 : 0;
}
