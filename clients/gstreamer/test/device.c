/*
 * Writes the pictures of a stream to a file, row by row, as they are read back from the GPU's memory.
 *
 *     device [--host] URI DEVICE FILE
 *
 * The sink asks for pictures in CUDA's memory and takes others; with --host it takes others alone. It prints each change of
 * caps, how many pictures lay on the GPU, and, where the driver is the stub for tests, what was not given back. Exit status: 0
 * end of stream, 1 an error, whose line is printed.
 */
#include <dlfcn.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>

/* So many buffers are held, as an encoder does. */
#define HELD 3

static FILE *file;
static GstVideoInfo video;
static GstBuffer *held[HELD];
static guint pictures;
static guint on_device;

static gsize row_bytes(guint plane, gsize *rows) {
    gsize bytes = 0;
    for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(&video); i++) {
        if ((guint)GST_VIDEO_INFO_COMP_PLANE(&video, i) == plane) {
            bytes = MAX(bytes, (gsize)(GST_VIDEO_INFO_COMP_WIDTH(&video, i) * GST_VIDEO_INFO_COMP_PSTRIDE(&video, i)));
            *rows = (gsize)GST_VIDEO_INFO_COMP_HEIGHT(&video, i);
        }
    }
    return bytes;
}

static void write_picture(GstBuffer *buffer) {
    GstVideoFrame frame;
    if (!gst_video_frame_map(&frame, &video, buffer, GST_MAP_READ)) {
        g_error("cannot map a picture");
    }
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(&video); i++) {
        gsize rows = 0;
        gsize bytes = row_bytes(i, &rows);
        for (gsize y = 0; y < rows; y++) {
            const guint8 *row = GST_VIDEO_FRAME_PLANE_DATA(&frame, i);
            fwrite(row + y * (gsize)GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i), 1, bytes, file);
        }
    }
    gst_video_frame_unmap(&frame);
}

static GstPadProbeReturn on_data(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    (void)pad;
    (void)context;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
        GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
        on_device += gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), "gst.cuda.memory");
        gst_buffer_replace(&held[pictures++ % HELD], buffer);
        write_picture(buffer);
    } else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS) {
        GstCaps *caps;
        gst_event_parse_caps(GST_PAD_PROBE_INFO_EVENT(info), &caps);
        gchar *text = gst_caps_to_string(caps);
        g_print("caps %s\n", text);
        g_free(text);
        if (!gst_video_info_from_caps(&video, caps)) {
            g_error("no pictures");
        }
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

static void print_what_is_left(void) {
    static const gchar *const KINDS[] = {"contexts", "device", "pinned", "registered", "streams", "events"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    long (*live)(const char *what) = NULL;
    if (library != NULL) {
        *(void **)&live = dlsym(library, "framecast_stub_live");
    }
    for (guint i = 0; live != NULL && i < G_N_ELEMENTS(KINDS); i++) {
        if (live(KINDS[i]) != 0) {
            g_print("left %ld %s\n", live(KINDS[i]), KINDS[i]);
        }
    }
}

int main(int count, char **words) {
    gst_init(&count, &words);
    gboolean host = count == 5 && g_strcmp0(words[1], "--host") == 0;
    if (count != 4 && !host) {
        g_printerr("usage: device [--host] URI DEVICE FILE\n");
        return 2;
    }
    words += host;
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch(host ? "framecastsrc name=source ! video/x-raw ! fakesink name=sink"
                                                 : "framecastsrc name=source ! video/x-raw;video/x-raw(memory:CUDAMemory)"
                                                   " ! fakesink name=sink", &error);
    file = fopen(words[3], "wb");
    if (error != NULL || file == NULL) {
        g_printerr("device: %s\n", error != NULL ? error->message : "cannot write the file");
        return 2;
    }
    GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    g_object_set(source, "uri", words[1], "device", words[2], "timeout", 30000, NULL);
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM, on_data, NULL, NULL);
    gst_object_unref(pad);
    gst_object_unref(sink);
    gst_object_unref(source);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gboolean ended = wait_for_end(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    for (guint i = 0; i < HELD; i++) {
        gst_clear_buffer(&held[i]);
    }
    gst_object_unref(pipeline);
    g_print("pictures %u on the GPU %u\n", pictures, on_device);
    gst_deinit();
    print_what_is_left();
    return fclose(file) == 0 && ended ? 0 : 1;
}
