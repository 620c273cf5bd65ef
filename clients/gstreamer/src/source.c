/* A live source of the frames of a Framecast stream. It follows the host group when it plays, and gives up waiting when its
 * pipeline stops. */
#include "source.h"

#include "buffers.h"
#include "device.h"
#include "errors.h"
#include "metadata.h"

#include <gst/base/gstbasesrc.h>
#include <stdatomic.h>
#include <string.h>

GST_DEBUG_CATEGORY_STATIC(framecast_debug);
#define GST_CAT_DEFAULT framecast_debug

#define TIMEOUT_MS 10000

struct _FramecastSrc {
    GstPushSrc parent;
    /* Properties; the object's lock guards them, and the subscriber. */
    gchar *uri;
    gchar *delivery;
    gchar *device_name;
    gint timeout_ms;
    fc_subscriber *subscriber;
    /* The pipeline stops: nothing waits. */
    atomic_bool stopping;
    /* The latency query reads it on other threads: the object's lock. */
    GstClockTime duration;
    /* The GPU, NULL for none; queries of others open it, too. The context is one that the pipeline gave. */
    GMutex device_lock;
    Device *device;
    GstObject *context;
    /* The rest is of the streaming thread. */
    Description description;
    gboolean described;
    guint64 format;
    gboolean planes_understood;
    /* Buffers lie in the GPU's memory. */
    gboolean on_device;
    /* The source's time of a frame, and the running time that it stands for. */
    gboolean timed;
    guint64 session;
    gint64 first_ns;
    GstClockTime first_running;
    GstCaps *unix_time;
};

G_DEFINE_FINAL_TYPE(FramecastSrc, framecast_src, GST_TYPE_PUSH_SRC)

enum { URI = 1, DELIVERY, TIMEOUT, DEVICE };

/* Of caps ANY: formats decide. */
static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    FramecastSrc *self = FRAMECAST_SRC(object);
    GST_OBJECT_LOCK(self);
    switch (id) {
    case URI:
        g_free(self->uri);
        self->uri = g_value_dup_string(value);
        break;
    case DELIVERY:
        g_free(self->delivery);
        self->delivery = g_value_dup_string(value);
        break;
    case DEVICE:
        g_free(self->device_name);
        self->device_name = g_value_dup_string(value);
        break;
    case TIMEOUT: self->timeout_ms = g_value_get_int(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    FramecastSrc *self = FRAMECAST_SRC(object);
    GST_OBJECT_LOCK(self);
    switch (id) {
    case URI: g_value_set_string(value, self->uri); break;
    case DELIVERY: g_value_set_string(value, self->delivery); break;
    case DEVICE: g_value_set_string(value, self->device_name); break;
    case TIMEOUT: g_value_set_int(value, self->timeout_ms); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(self);
}

static int is_stopping(void *context) {
    return atomic_load(&((FramecastSrc *)context)->stopping);
}

/* The URI with this delivery and no other one. */
static gchar *with_delivery(const gchar *uri, const gchar *delivery) {
    gchar **parts = g_strsplit(uri, "|", -1);
    GString *whole = g_string_new(NULL);
    for (gchar **part = parts; *part != NULL; part++) {
        /* In front of the first key are the transport and a question mark. */
        gchar *mark = part == parts ? strchr(*part, '?') : NULL;
        gchar *key = mark == NULL ? *part : mark + 1;
        if (!g_str_has_prefix(key, "delivery=")) {
            g_string_append_printf(whole, "%s%s", whole->len == 0 || whole->str[whole->len - 1] == '?' ? "" : "|", *part);
        } else if (part == parts) {
            g_string_append_len(whole, *part, key - *part);
        }
    }
    g_strfreev(parts);
    g_string_append_printf(whole, "%sdelivery=%s", whole->len == 0 || whole->str[whole->len - 1] == '?' ? "" : "|", delivery);
    return g_string_free(whole, FALSE);
}

static gchar *whole_uri(FramecastSrc *self) {
    GST_OBJECT_LOCK(self);
    gboolean has_delivery = self->delivery != NULL && self->delivery[0] != 0;
    gchar *uri = has_delivery ? with_delivery(self->uri, self->delivery) : g_strdup(self->uri);
    GST_OBJECT_UNLOCK(self);
    return uri;
}

/* The GPU that the property asks for, else the URI: its number, DEVICE_NONE, DEVICE_INVALID. */
static gint wanted_device(FramecastSrc *self) {
    gint wanted = DEVICE_NONE;
    GST_OBJECT_LOCK(self);
    if (self->device_name != NULL && self->device_name[0] != 0) {
        wanted = device_of_text(self->device_name);
    } else if (self->uri != NULL) {
        gchar **parts = g_strsplit_set(self->uri, "|?", -1);
        for (gchar **part = parts; *part != NULL; part++) {
            if (g_str_has_prefix(*part, "device=")) {
                wanted = device_of_text(*part + strlen("device="));
            }
        }
        g_strfreev(parts);
        /* libframecast says what is wrong with its URI. */
        wanted = wanted == DEVICE_INVALID ? DEVICE_NONE : wanted;
    }
    GST_OBJECT_UNLOCK(self);
    return wanted;
}

/* With device_lock. Whether the GPU that is asked for is open, or none is. */
static gboolean open_device(FramecastSrc *self, fc_error *error) {
    gint wanted = wanted_device(self);
    if (wanted == DEVICE_INVALID) {
        error->status = FC_E_ARGUMENT;
        g_strlcpy(error->text, "device: expected cuda:N, such as cuda:0, host, or nothing for that of the uri", sizeof error->text);
        return FALSE;
    }
    if (self->device != NULL && device_ordinal(self->device) != wanted) {
        device_close(self->device);
        self->device = NULL;
    }
    if (wanted != DEVICE_NONE && self->device == NULL) {
        self->device = device_open(wanted, self->context, error);
        return self->device != NULL;
    }
    return TRUE;
}

static GstFlowReturn subscribe(FramecastSrc *self) {
    fc_error error = {.status = FC_OK};
    fc_subscriber *subscriber;
    fc_status status;
    fc_options options = FC_OPTIONS_DEFAULT;
    gchar *uri = whole_uri(self);
    options.leader_wait_ms = self->timeout_ms;
    options.on_wait = is_stopping;
    options.context = self;
    if (self->device != NULL) {
        options.cuda_device = device_ordinal(self->device);
    } else if (self->device_name != NULL && self->device_name[0] != 0) {
        options.cuda_device = FC_DEVICE_NONE;
    }
    do {
        status = fc_subscribe(uri, &options, &subscriber, &error);
        /* A signal ends the wait, too. */
    } while (status == FC_INTERRUPTED && !is_stopping(self));
    g_free(uri);
    if (status == FC_INTERRUPTED) {
        return GST_FLOW_FLUSHING;
    }
    if (status != FC_OK) {
        return report(self, &error);
    }
    GST_OBJECT_LOCK(self);
    self->subscriber = subscriber;
    GST_OBJECT_UNLOCK(self);
    return GST_FLOW_OK;
}

static GstFlowReturn next_frame(FramecastSrc *self, const fc_frame **frame) {
    for (;;) {
        fc_error error;
        if (is_stopping(self)) {
            return GST_FLOW_FLUSHING;
        }
        fc_status status = fc_next(self->subscriber, -1, frame, &error);
        switch (status) {
        case FC_OK: return GST_FLOW_OK;
        case FC_EMPTY:
        case FC_INTERRUPTED: break;
        case FC_END_OF_STREAM: return GST_FLOW_EOS;
        default: return report(self, &error);
        }
    }
}

/* Whether elements behind this one read planes where a meta says that they are. */
static gboolean understands_planes(FramecastSrc *self) {
    GstQuery *query = gst_query_new_allocation(self->description.caps, FALSE);
    gboolean understood = gst_pad_peer_query(GST_BASE_SRC_PAD(self), query)
                          && gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    gst_query_unref(query);
    return understood;
}

static void announce_latency(FramecastSrc *self) {
    GST_OBJECT_LOCK(self);
    gboolean changed = self->duration != self->description.duration;
    self->duration = self->description.duration;
    GST_OBJECT_UNLOCK(self);
    if (changed) {
        gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
    }
}

/* Whether an element behind this one asks for these caps in a GPU's memory; one that takes anything does not. */
static gboolean asks_for_device(FramecastSrc *self, GstCaps *caps) {
    GstCaps *taken = gst_pad_peer_query_caps(GST_BASE_SRC_PAD(self), NULL);
    gboolean asks = FALSE;
    for (guint i = 0; i < gst_caps_get_size(taken) && !asks; i++) {
        if (device_reads(taken, i)) {
            GstCaps *one = gst_caps_copy_nth(taken, i);
            asks = gst_caps_can_intersect(one, caps);
            gst_caps_unref(one);
        }
    }
    gst_caps_unref(taken);
    return asks;
}

/* Decides where the pictures lie, and sets their caps. */
static GstFlowReturn negotiate_caps(FramecastSrc *self) {
    GstCaps *caps = self->device == NULL ? NULL : device_caps(&self->description);
    fc_error error;
    self->on_device = caps != NULL && asks_for_device(self, caps);
    if (self->on_device && !device_prepare(self->device, caps, &error)) {
        gst_caps_unref(caps);
        return report(self, &error);
    }
    gboolean taken = gst_base_src_set_caps(GST_BASE_SRC(self), self->on_device ? caps : self->description.caps);
    gst_clear_caps(&caps);
    return taken ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

/* Caps of the frame, where they are others than those of the frame before. */
static GstFlowReturn describe(FramecastSrc *self, const fc_frame *frame) {
    const fc_format *format = fc_frame_format(frame);
    guint64 id = format == NULL ? 0 : format->id;
    if (self->described && id == self->format) {
        return GST_FLOW_OK;
    }
    description_set(&self->description, format);
    self->described = TRUE;
    self->format = id;
    GST_INFO_OBJECT(self, "frame %" G_GUINT64_FORMAT ": %" GST_PTR_FORMAT, frame->number, self->description.caps);
    GstFlowReturn flow = negotiate_caps(self);
    if (flow != GST_FLOW_OK) {
        return flow;
    }
    self->planes_understood = !self->description.is_video || self->on_device || understands_planes(self);
    announce_latency(self);
    return GST_FLOW_OK;
}

static GstFlowReturn refuse_length(FramecastSrc *self, const fc_frame *frame) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("frame %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " bytes is shorter than its format says: %"
                       G_GUINT64_FORMAT " bytes; let the publisher describe what it publishes",
                       (guint64)frame->number, (guint64)frame->bytes, self->description.bytes_min),
                      (NULL));
    return GST_FLOW_ERROR;
}

static GstClockTime running_time(FramecastSrc *self) {
    GstClock *clock = gst_element_get_clock(GST_ELEMENT(self));
    if (clock == NULL) {
        return 0;
    }
    GstClockTime now = gst_clock_get_time(clock);
    GstClockTime base = gst_element_get_base_time(GST_ELEMENT(self));
    gst_object_unref(clock);
    return now > base ? now - base : 0;
}

/* The first frame of a session is of now; others keep the source's distances. */
static GstClockTime presentation(FramecastSrc *self, const fc_frame *frame) {
    gint64 since_ns;
    if (!self->timed || frame->session != self->session
        || __builtin_sub_overflow(frame->timestamp_ns, self->first_ns, &since_ns)
        || (since_ns < 0 && (GstClockTime)-since_ns > self->first_running)) {
        self->timed = TRUE;
        self->session = frame->session;
        self->first_ns = frame->timestamp_ns;
        self->first_running = running_time(self);
        since_ns = 0;
    }
    return self->first_running + (GstClockTime)since_ns;
}

static gboolean has_losses(const fc_frame *frame) {
    guint64 lost = 0;
    for (int i = 0; i < FC_LOSS_REASONS; i++) {
        lost |= frame->lost[i];
    }
    return lost != 0;
}

/* The frame's bytes. Takes the frame. */
static GstBuffer *make_memory(FramecastSrc *self, const fc_frame *frame, fc_error *error) {
    if (self->on_device) {
        return device_buffer(self->device, frame, &self->description, error);
    }
    /* In GStreamer's layout the last row is as long as the others. */
    gboolean is_plain = self->description.is_plain && frame->bytes >= self->description.bytes_used;
    GstBuffer *buffer = buffer_of_frame(frame, &self->description);
    if (!self->planes_understood && !is_plain) {
        buffer = buffer_in_plain_layout(buffer, &self->description);
        error->status = FC_E_RESOURCES;
        g_strlcpy(error->text, "no memory for a picture; raise ulimit -v", sizeof error->text);
    }
    return buffer;
}

/* Takes the frame. */
static GstBuffer *make_buffer(FramecastSrc *self, const fc_frame *frame, fc_error *error) {
    gboolean follows = self->timed && frame->session == self->session;
    GstBufferFlags flags = (frame->flags & FC_FRAME_KEYFRAME ? 0 : GST_BUFFER_FLAG_DELTA_UNIT)
                           | (follows && !has_losses(frame) ? 0 : GST_BUFFER_FLAG_DISCONT);
    GstClockTime time = presentation(self, frame);
    guint64 number = frame->number;
    gint64 timestamp_ns = frame->timestamp_ns;
    GBytes *metadata = frame->metadata_bytes == 0 ? NULL : g_bytes_new(frame->metadata, frame->metadata_bytes);
    GstBuffer *buffer = make_memory(self, frame, error);
    if (buffer != NULL && metadata != NULL) {
        metadata_put(buffer, metadata);
    }
    g_clear_pointer(&metadata, g_bytes_unref);
    if (buffer == NULL) {
        return NULL;
    }
    GST_BUFFER_FLAG_SET(buffer, flags);
    GST_BUFFER_PTS(buffer) = time;
    GST_BUFFER_DURATION(buffer) = self->description.duration;
    GST_BUFFER_OFFSET(buffer) = number;
    GST_BUFFER_OFFSET_END(buffer) = number + 1;
    if (timestamp_ns >= 0) {
        gst_buffer_add_reference_timestamp_meta(buffer, self->unix_time, (GstClockTime)timestamp_ns, GST_CLOCK_TIME_NONE);
    }
    return buffer;
}

static GstFlowReturn create(GstPushSrc *source, GstBuffer **buffer) {
    FramecastSrc *self = FRAMECAST_SRC(source);
    const fc_frame *frame = NULL;
    fc_error error;
    GstFlowReturn flow = self->subscriber == NULL ? subscribe(self) : GST_FLOW_OK;
    if (flow == GST_FLOW_OK) {
        flow = next_frame(self, &frame);
    }
    if (flow == GST_FLOW_OK) {
        flow = describe(self, frame);
    }
    if (flow == GST_FLOW_OK && frame->bytes < self->description.bytes_min) {
        flow = refuse_length(self, frame);
    }
    if (flow != GST_FLOW_OK) {
        fc_frame_release(frame);
        return flow;
    }
    *buffer = make_buffer(self, frame, &error);
    return *buffer == NULL ? report(self, &error) : GST_FLOW_OK;
}

static gboolean start(GstBaseSrc *source) {
    FramecastSrc *self = FRAMECAST_SRC(source);
    if (self->uri == NULL || self->uri[0] == 0) {
        GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                          ("no uri; set uri='framecast:udp?group=224.20.30.39:24326|channel=cam1'"), (NULL));
        return FALSE;
    }
    self->described = FALSE;
    self->timed = FALSE;
    fc_error error;
    g_mutex_lock(&self->device_lock);
    gboolean opened = open_device(self, &error);
    g_mutex_unlock(&self->device_lock);
    if (!opened) {
        report(self, &error);
    } else if (self->device != NULL) {
        device_announce(self->device, GST_ELEMENT(self));
    }
    return opened;
}

static gboolean stop(GstBaseSrc *source) {
    FramecastSrc *self = FRAMECAST_SRC(source);
    GST_OBJECT_LOCK(self);
    fc_subscriber *subscriber = self->subscriber;
    self->subscriber = NULL;
    GST_OBJECT_UNLOCK(self);
    fc_close(subscriber);
    description_clear(&self->description);
    g_mutex_lock(&self->device_lock);
    device_close(self->device);
    self->device = NULL;
    g_mutex_unlock(&self->device_lock);
    return TRUE;
}

static gboolean unlock(GstBaseSrc *source) {
    FramecastSrc *self = FRAMECAST_SRC(source);
    atomic_store(&self->stopping, TRUE);
    GST_OBJECT_LOCK(self);
    if (self->subscriber != NULL) {
        fc_wake(self->subscriber);
    }
    GST_OBJECT_UNLOCK(self);
    return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *source) {
    atomic_store(&FRAMECAST_SRC(source)->stopping, FALSE);
    return TRUE;
}

/* Frames say what they are: caps come with the first one, and again where elements behind this one changed. */
static gboolean negotiate(GstBaseSrc *source) {
    FRAMECAST_SRC(source)->described = FALSE;
    return TRUE;
}

static gboolean is_seekable(GstBaseSrc *source) {
    (void)source;
    return FALSE;
}

/* An element behind this one takes the context of libframecast's copies, where it asks before it makes one of its own. */
static gboolean answer_context(FramecastSrc *self, GstQuery *asked) {
    fc_error error;
    g_mutex_lock(&self->device_lock);
    /* Without a device, others may know a context; what is wrong is said when this element starts. */
    gboolean answered = open_device(self, &error) && self->device != NULL
                        && device_answers(self->device, GST_ELEMENT(self), asked);
    g_mutex_unlock(&self->device_lock);
    return answered;
}

static void set_context(GstElement *element, GstContext *context) {
    FramecastSrc *self = FRAMECAST_SRC(element);
    g_mutex_lock(&self->device_lock);
    device_take_context(element, context, &self->context);
    g_mutex_unlock(&self->device_lock);
    GST_ELEMENT_CLASS(framecast_src_parent_class)->set_context(element, context);
}

/* A frame may come a frame's duration later than its distance from the first one says. */
static gboolean query(GstBaseSrc *source, GstQuery *asked) {
    FramecastSrc *self = FRAMECAST_SRC(source);
    if (device_is_asked(asked) && answer_context(self, asked)) {
        return TRUE;
    }
    if (GST_QUERY_TYPE(asked) != GST_QUERY_LATENCY) {
        return GST_BASE_SRC_CLASS(framecast_src_parent_class)->query(source, asked);
    }
    GST_OBJECT_LOCK(self);
    GstClockTime least = GST_CLOCK_TIME_IS_VALID(self->duration) ? self->duration : 0;
    GST_OBJECT_UNLOCK(self);
    gst_query_set_latency(asked, TRUE, least, GST_CLOCK_TIME_NONE);
    return TRUE;
}

static void finalize(GObject *object) {
    FramecastSrc *self = FRAMECAST_SRC(object);
    g_free(self->uri);
    g_free(self->delivery);
    g_free(self->device_name);
    device_close(self->device);
    gst_clear_object(&self->context);
    g_mutex_clear(&self->device_lock);
    description_clear(&self->description);
    gst_clear_caps(&self->unix_time);
    G_OBJECT_CLASS(framecast_src_parent_class)->finalize(object);
}

static void framecast_src_init(FramecastSrc *self) {
    self->timeout_ms = TIMEOUT_MS;
    g_mutex_init(&self->device_lock);
    self->duration = GST_CLOCK_TIME_NONE;
    self->unix_time = gst_caps_new_empty_simple("timestamp/x-unix");
    description_clear(&self->description);
    gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
    gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void add_properties(GObjectClass *class) {
    GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
    g_object_class_install_property(class, URI,
                                    g_param_spec_string("uri", "URI", "The channel, as framecast publish and subscribe take it",
                                                        NULL, flags));
    g_object_class_install_property(
        class, DELIVERY,
        g_param_spec_string("delivery", "Delivery", "reliable, latest or deadline=T, in place of the URI's", NULL, flags));
    g_object_class_install_property(
        class, TIMEOUT,
        g_param_spec_int("timeout", "Timeout",
                         "Longest wait for a program of this host that receives or publishes the stream, ms; -1: for ever", -1,
                         G_MAXINT, TIMEOUT_MS, flags));
    g_object_class_install_property(
        class, DEVICE,
        g_param_spec_string("device", "Device",
                            "cuda:N for pictures in a GPU's memory, where elements ask for that; host; empty for that of the URI",
                            NULL, flags));
}

static void framecast_src_class_init(FramecastSrcClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseSrcClass *base = GST_BASE_SRC_CLASS(class);
    GST_DEBUG_CATEGORY_INIT(framecast_debug, "framecast", 0, "Framecast streams");
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    add_properties(object);
    element->set_context = set_context;
    gst_element_class_add_static_pad_template(element, &template);
    gst_element_class_set_static_metadata(element, "Framecast source", "Source",
                                          "Frames of a Framecast stream that a program of this host receives or publishes",
                                          "Framecast");
    base->start = start;
    base->stop = stop;
    base->unlock = unlock;
    base->unlock_stop = unlock_stop;
    base->negotiate = negotiate;
    base->is_seekable = is_seekable;
    base->query = query;
    GST_PUSH_SRC_CLASS(class)->create = create;
}
