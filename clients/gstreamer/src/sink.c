/* A sink that publishes its buffers by a server of this host. It waits for the server, and for subscribers, in preroll, so that
 * the time of the pipeline begins when there is one. */
#include "sink.h"

#include "device.h"
#include "errors.h"
#include "formats.h"
#include "metadata.h"

#include <string.h>
#include <time.h>

GST_DEBUG_CATEGORY_STATIC(framecast_debug);
#define GST_CAT_DEFAULT framecast_debug

#define TIMEOUT_MS 10000
/* Between looks whether the pipeline stops or pauses. */
#define LOOK_MS 50
/* Of a server's channel that does not say another. */
#define FRAME_MAX_BYTES (16 << 20)
/* The clock of the pipeline and that of the host may part so far. */
#define CLOCK_ERROR_MAX_NS (100 * GST_MSECOND)
#define NS_PER_S G_GINT64_CONSTANT(1000000000)

struct _FramecastSink {
    GstBaseSink parent;
    /* Properties; the object's lock guards them. */
    gchar *uri;
    gchar *metadata;
    gint timeout_ms;
    gint subscribers;
    /* The rest is of the streaming thread. Whether it publishes: then it waits while the pipeline pauses. */
    gboolean renders;
    fc_publisher *publisher;
    gboolean awaited;
    gboolean ended;
    /* An error was posted. The end of the stream that follows it is none for subscribers. */
    gboolean failed;
    Published published;
    /* Of the frame before, whose format holds for others of these caps without planes of their own; samples as many bytes. */
    gboolean described;
    gsize frame_bytes;
    guint8 format[FC_FORMAT_BYTES_MAX];
    gsize format_bytes;
    /* The host's clock less the pipeline's. */
    gboolean timed;
    gint64 clock_offset_ns;
    GstCaps *unix_time;
};

G_DEFINE_FINAL_TYPE(FramecastSink, framecast_sink, GST_TYPE_BASE_SINK)

enum { URI = 1, TIMEOUT, SUBSCRIBERS, METADATA };

static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    FramecastSink *self = FRAMECAST_SINK(object);
    GST_OBJECT_LOCK(self);
    switch (id) {
    case URI:
        g_free(self->uri);
        self->uri = g_value_dup_string(value);
        break;
    case METADATA:
        g_free(self->metadata);
        self->metadata = g_value_dup_string(value);
        break;
    case TIMEOUT: self->timeout_ms = g_value_get_int(value); break;
    case SUBSCRIBERS: self->subscribers = g_value_get_int(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    FramecastSink *self = FRAMECAST_SINK(object);
    GST_OBJECT_LOCK(self);
    switch (id) {
    case URI: g_value_set_string(value, self->uri); break;
    case METADATA: g_value_set_string(value, self->metadata); break;
    case TIMEOUT: g_value_set_int(value, self->timeout_ms); break;
    case SUBSCRIBERS: g_value_set_int(value, self->subscribers); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(self);
}

/*
 * The base class holds the preroll lock while it calls. Waits give it back: state changes take it. Afterwards the pipeline may
 * flush, or have paused.
 */
static void begin_wait(FramecastSink *self) {
    GST_BASE_SINK_PREROLL_UNLOCK(self);
}

/* With the lock. */
static gboolean is_stopped(FramecastSink *self) {
    GstBaseSink *sink = GST_BASE_SINK(self);
    return sink->flushing || (self->renders && sink->need_preroll);
}

/* Without the lock. */
static int stops_waiting(void *context) {
    FramecastSink *self = context;
    GST_BASE_SINK_PREROLL_LOCK(self);
    gboolean stopped = is_stopped(self);
    GST_BASE_SINK_PREROLL_UNLOCK(self);
    return stopped;
}

/* One line to the pipeline, and nothing more is published. */
static GstFlowReturn fail(FramecastSink *self, const fc_error *error) {
    self->failed = TRUE;
    return report(self, error);
}

/* Behind begin_wait: whether a call that gave this status is made again; *flow says why not. A pipeline that pauses waits
 * here. */
static gboolean repeats(FramecastSink *self, fc_status status, const fc_error *error, GstFlowReturn *flow) {
    GST_BASE_SINK_PREROLL_LOCK(self);
    *flow = GST_FLOW_OK;
    if (status != FC_WOULD_BLOCK && status != FC_INTERRUPTED) {
        *flow = status == FC_OK ? GST_FLOW_OK : fail(self, error);
        return FALSE;
    }
    if (GST_BASE_SINK(self)->flushing) {
        *flow = GST_FLOW_FLUSHING;
    } else if (is_stopped(self)) {
        *flow = gst_base_sink_wait_preroll(GST_BASE_SINK(self));
    }
    return *flow == GST_FLOW_OK;
}

/* Pictures that are longer than a channel takes by itself. */
static guint64 frame_max(const FramecastSink *self, const gchar *uri) {
    gsize bytes = self->published.is_video ? GST_VIDEO_INFO_SIZE(&self->published.video) : 0;
    return bytes > FRAME_MAX_BYTES && uri != NULL && strstr(uri, "frame-max=") == NULL ? bytes : 0;
}

static GstFlowReturn open_publisher(FramecastSink *self) {
    fc_publish_options options = FC_PUBLISH_OPTIONS_DEFAULT;
    fc_error error;
    fc_status status;
    GstFlowReturn flow;
    GST_OBJECT_LOCK(self);
    gchar *uri = g_strdup(self->uri);
    options.timeout_ms = self->timeout_ms;
    GST_OBJECT_UNLOCK(self);
    options.frame_max = frame_max(self, uri);
    options.on_wait = stops_waiting;
    options.context = self;
    do {
        begin_wait(self);
        status = fc_publish_open(uri, &options, &self->publisher, &error);
    } while (repeats(self, status, &error, &flow));
    g_free(uri);
    self->awaited = FALSE;
    self->ended = FALSE;
    self->timed = FALSE;
    self->format_bytes = 0;
    self->described = FALSE;
    return flow;
}

/* Until there is a publisher, and as many subscribers as are asked for. */
static GstFlowReturn get_ready(FramecastSink *self) {
    GstFlowReturn flow = GST_FLOW_OK;
    fc_error error;
    fc_status status;
    if (self->failed) {
        return GST_FLOW_ERROR;
    }
    if (self->ended) {
        /* Buffers behind an end of stream, such as behind a seek, are another stream. */
        fc_publish_close(self->publisher);
        self->publisher = NULL;
    }
    if (self->publisher == NULL) {
        flow = open_publisher(self);
    }
    if (flow != GST_FLOW_OK || self->awaited) {
        return flow;
    }
    GST_OBJECT_LOCK(self);
    gint subscribers = self->subscribers;
    GST_OBJECT_UNLOCK(self);
    do {
        begin_wait(self);
        status = fc_wait_ready(self->publisher, subscribers, LOOK_MS, &error);
    } while (repeats(self, status, &error, &flow));
    self->awaited = flow == GST_FLOW_OK;
    return flow;
}

static GstFlowReturn preroll(GstBaseSink *sink, GstBuffer *buffer) {
    FramecastSink *self = FRAMECAST_SINK(sink);
    (void)buffer;
    self->renders = FALSE;
    return get_ready(self);
}

static GstFlowReturn announce(FramecastSink *self, const guint8 *bytes, gsize length) {
    fc_error error;
    fc_status status;
    GstFlowReturn flow;
    do {
        begin_wait(self);
        status = fc_publish_format(self->publisher, bytes, length, LOOK_MS, &error);
    } while (repeats(self, status, &error, &flow));
    if (flow == GST_FLOW_OK) {
        memcpy(self->format, bytes, length);
        self->format_bytes = length;
        GST_INFO_OBJECT(self, "%" GST_PTR_FORMAT, self->published.caps);
    }
    return flow;
}

/* The buffer's format, where it is another one than that of the buffer before. */
static GstFlowReturn describe(FramecastSink *self, GstBuffer *buffer) {
    guint8 bytes[FC_FORMAT_BYTES_MAX];
    gsize length;
    fc_error error;
    gsize frame_bytes = gst_buffer_get_size(buffer);
    gboolean has_planes = !self->published.on_device && gst_buffer_get_video_meta(buffer) != NULL;
    if (self->described && !has_planes && (!self->published.is_audio || frame_bytes == self->frame_bytes)) {
        return GST_FLOW_OK;
    }
    self->described = FALSE;
    if (!published_encode(&self->published, buffer, bytes, &length, &error)) {
        return fail(self, &error);
    }
    if (length > 0 && (length != self->format_bytes || memcmp(bytes, self->format, length) != 0)) {
        GstFlowReturn flow = announce(self, bytes, length);
        if (flow != GST_FLOW_OK) {
            return flow;
        }
    }
    self->described = !has_planes;
    self->frame_bytes = frame_bytes;
    return GST_FLOW_OK;
}

static gint64 clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The calendar is read once, as by the server: where it is set meanwhile, frames would come to be as old as that step. */
static gint64 host_time_ns(void) {
    static gsize once = 0;
    static gint64 offset_ns = 0;
    if (g_once_init_enter(&once)) {
        offset_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
        g_once_init_leave(&once, 1);
    }
    return clock_ns(CLOCK_MONOTONIC) + offset_ns;
}

/* A time of the pipeline's clock, of the host's clock. Times keep their distances while the clocks stay close. */
static gint64 of_host(FramecastSink *self, GstClock *clock, GstClockTime time) {
    gint64 offset_ns = host_time_ns() - (gint64)gst_clock_get_time(clock);
    gint64 error_ns = offset_ns - self->clock_offset_ns;
    if (!self->timed || error_ns > (gint64)CLOCK_ERROR_MAX_NS || error_ns < -(gint64)CLOCK_ERROR_MAX_NS) {
        self->clock_offset_ns = offset_ns;
        self->timed = TRUE;
    }
    return (gint64)time + self->clock_offset_ns;
}

/* The time that the buffer brings along, else that at which it is to be shown. */
static gint64 timestamp_ns(FramecastSink *self, GstBuffer *buffer) {
    const GstReferenceTimestampMeta *source = gst_buffer_get_reference_timestamp_meta(buffer, self->unix_time);
    const GstSegment *segment = &GST_BASE_SINK(self)->segment;
    GstClockTime time = GST_BUFFER_PTS_IS_VALID(buffer) ? GST_BUFFER_PTS(buffer) : GST_BUFFER_DTS(buffer);
    gint64 found = FC_TIMESTAMP_NOW;
    if (source != NULL || !self->renders) {
        return source != NULL ? (gint64)source->timestamp : FC_TIMESTAMP_NOW;
    }
    guint64 running = segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID(time)
                          ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, time)
                          : GST_CLOCK_TIME_NONE;
    GstClock *clock = gst_element_get_clock(GST_ELEMENT(self));
    if (clock != NULL && GST_CLOCK_TIME_IS_VALID(running)) {
        found = of_host(self, clock, running + gst_element_get_base_time(GST_ELEMENT(self)));
    }
    gst_clear_object(&clock);
    return found;
}

static GstFlowReturn commit(FramecastSink *self, GstBuffer *buffer) {
    fc_commit_options options = FC_COMMIT_OPTIONS_DEFAULT;
    GBytes *brought = metadata_of(buffer);
    fc_error error;
    gsize length = 0;
    options.keyframe = !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    options.timestamp_ns = timestamp_ns(self, buffer);
    GST_OBJECT_LOCK(self);
    gchar *text = g_strdup(self->metadata);
    GST_OBJECT_UNLOCK(self);
    options.metadata = brought != NULL ? g_bytes_get_data(brought, &length) : text;
    length = brought == NULL && text != NULL ? strlen(text) : length;
    options.metadata_bytes = (guint32)MIN(length, G_MAXUINT32);
    fc_status status = fc_commit(self->publisher, &options, &error);
    g_free(text);
    if (status != FC_OK) {
        fc_abort(self->publisher);
        return fail(self, &error);
    }
    return GST_FLOW_OK;
}

/* Pictures of a GPU are published without the gaps that they have there. */
static gsize frame_bytes(const FramecastSink *self, GstBuffer *buffer) {
    gsize bytes = gst_buffer_get_size(buffer);
    return self->published.on_device && bytes > 0 ? GST_VIDEO_INFO_SIZE(&self->published.video) : bytes;
}

static gboolean fill(const FramecastSink *self, GstBuffer *buffer, void *data, gsize bytes) {
    return self->published.on_device ? device_download(buffer, &self->published.video, data)
                                     : gst_buffer_extract(buffer, 0, data, bytes) == bytes;
}

static GstFlowReturn render(GstBaseSink *sink, GstBuffer *buffer) {
    FramecastSink *self = FRAMECAST_SINK(sink);
    gsize bytes = frame_bytes(self, buffer);
    void *data;
    fc_error error;
    fc_status status;
    /* A buffer that lies in front of the segment comes before preroll, when the pipeline has no time yet. */
    self->renders = !sink->need_preroll;
    GstFlowReturn flow = get_ready(self);
    if (flow != GST_FLOW_OK || bytes == 0) {
        return flow;
    }
    flow = describe(self, buffer);
    if (flow != GST_FLOW_OK) {
        return flow;
    }
    do {
        begin_wait(self);
        status = fc_claim(self->publisher, bytes, LOOK_MS, &data, &error);
    } while (repeats(self, status, &error, &flow));
    if (flow != GST_FLOW_OK) {
        return flow;
    }
    if (!fill(self, buffer, data, bytes)) {
        fc_abort(self->publisher);
        self->failed = TRUE;
        GST_ELEMENT_ERROR(self, RESOURCE, READ, ("cannot map a buffer; put an element in front that gives system memory"),
                          (NULL));
        return GST_FLOW_ERROR;
    }
    return commit(self, buffer);
}

/* An empty stream ends too. */
static gboolean end_stream(FramecastSink *self) {
    self->renders = FALSE;
    GstFlowReturn flow = self->ended ? GST_FLOW_OK : get_ready(self);
    fc_error error;
    fc_status status;
    if (flow != GST_FLOW_OK || self->ended) {
        return flow == GST_FLOW_OK;
    }
    do {
        begin_wait(self);
        status = fc_publish_end(self->publisher, LOOK_MS, &error);
    } while (repeats(self, status, &error, &flow));
    self->ended = flow == GST_FLOW_OK;
    return self->ended;
}

static gboolean event(GstBaseSink *sink, GstEvent *event) {
    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS && !end_stream(FRAMECAST_SINK(sink))) {
        gst_event_unref(event);
        return FALSE;
    }
    return GST_BASE_SINK_CLASS(framecast_sink_parent_class)->event(sink, event);
}

static gboolean set_caps(GstBaseSink *sink, GstCaps *caps) {
    FramecastSink *self = FRAMECAST_SINK(sink);
    fc_error error;
    self->described = FALSE;
    if (published_set(&self->published, caps, &error)) {
        return TRUE;
    }
    fail(self, &error);
    return FALSE;
}

/* Anything that lies in system memory, and pictures in a GPU's memory where these elements can read it. */
static GstCaps *get_caps(GstBaseSink *sink, GstCaps *filter) {
    (void)sink;
    if (filter == NULL || gst_caps_is_any(filter)) {
        return gst_caps_new_any();
    }
    GstCaps *caps = gst_caps_new_empty();
    for (guint i = 0; i < gst_caps_get_size(filter); i++) {
        GstCapsFeatures *features = gst_caps_get_features(filter, i);
        if (gst_caps_features_is_any(features)
            || gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
            gst_caps_append_structure(caps, gst_structure_copy(gst_caps_get_structure(filter, i)));
        } else if (device_reads(filter, i)) {
            gst_caps_append(caps, gst_caps_copy_nth(filter, i));
        }
    }
    return caps;
}

/* When a buffer is published. The decoding times of the first pictures of an encoder that reorders lie in front of the segment:
 * these come at its begin. */
static void get_times(GstBaseSink *sink, GstBuffer *buffer, GstClockTime *start, GstClockTime *end) {
    const GstSegment *segment = &sink->segment;
    GST_BASE_SINK_CLASS(framecast_sink_parent_class)->get_times(sink, buffer, start, end);
    if (segment->format == GST_FORMAT_TIME && segment->rate > 0 && GST_CLOCK_TIME_IS_VALID(*start) && *start < segment->start
        && GST_BUFFER_PTS_IS_VALID(buffer) && GST_BUFFER_PTS(buffer) >= segment->start) {
        *start = segment->start;
        *end = GST_CLOCK_TIME_NONE;
    }
}

static gboolean start(GstBaseSink *sink) {
    FramecastSink *self = FRAMECAST_SINK(sink);
    GST_OBJECT_LOCK(self);
    gboolean has_uri = self->uri != NULL && self->uri[0] != 0;
    GST_OBJECT_UNLOCK(self);
    if (!has_uri) {
        GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                          ("no uri; set uri='framecast:udp?group=224.20.30.39:24336|channel=cam1'"), (NULL));
    }
    return has_uri;
}

static gboolean stop(GstBaseSink *sink) {
    FramecastSink *self = FRAMECAST_SINK(sink);
    fc_publish_close(self->publisher);
    self->publisher = NULL;
    self->ended = self->failed = FALSE;
    published_clear(&self->published);
    return TRUE;
}

static void finalize(GObject *object) {
    FramecastSink *self = FRAMECAST_SINK(object);
    g_free(self->uri);
    g_free(self->metadata);
    gst_clear_caps(&self->unix_time);
    G_OBJECT_CLASS(framecast_sink_parent_class)->finalize(object);
}

static void framecast_sink_init(FramecastSink *self) {
    self->timeout_ms = TIMEOUT_MS;
    self->subscribers = 1;
    self->unix_time = gst_caps_new_empty_simple("timestamp/x-unix");
}

static void add_properties(GObjectClass *class) {
    GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
    g_object_class_install_property(class, URI,
                                    g_param_spec_string("uri", "URI", "The channel, as framecast serve --publish takes it", NULL,
                                                        flags | GST_PARAM_MUTABLE_READY));
    g_object_class_install_property(
        class, TIMEOUT,
        g_param_spec_int("timeout", "Timeout",
                         "Longest wait for a server of this host, and for another publisher to end, ms; -1: for ever", -1,
                         G_MAXINT, TIMEOUT_MS, flags | GST_PARAM_MUTABLE_READY));
    g_object_class_install_property(
        class, SUBSCRIBERS,
        g_param_spec_int("wait-subscribers", "Subscribers",
                         "The first buffer waits until so many subscribers are ready; without any, buffers are dropped", 0,
                         G_MAXINT, 1, flags | GST_PARAM_MUTABLE_READY));
    g_object_class_install_property(
        class, METADATA,
        g_param_spec_string("metadata", "Metadata", "Goes with each frame whose buffer brings none, at most 1024 bytes", NULL,
                            flags | GST_PARAM_MUTABLE_PLAYING));
}

static void framecast_sink_class_init(FramecastSinkClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseSinkClass *base = GST_BASE_SINK_CLASS(class);
    GST_DEBUG_CATEGORY_INIT(framecast_debug, "framecast", 0, "Framecast streams");
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    add_properties(object);
    gst_element_class_add_static_pad_template(element, &template);
    gst_element_class_set_static_metadata(element, "Framecast sink", "Sink",
                                          "Publishes buffers as frames by framecast serve --publish", "Framecast");
    base->start = start;
    base->stop = stop;
    base->get_times = get_times;
    base->get_caps = get_caps;
    base->set_caps = set_caps;
    base->event = event;
    base->preroll = preroll;
    base->render = render;
}
