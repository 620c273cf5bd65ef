/*
 * libframecast: follows a Framecast stream that a program of this host receives or publishes, and publishes by a server
 * of this host (at the end).
 *
 * The library maps the leader's memory and reads frames where they lie (docs/host-segment.md). It joins no network,
 * and never leads a host group. It needs Linux and libc alone.
 *
 * Ownership. fc_subscribe makes a subscriber, fc_close ends it. fc_next gives a frame with one reference, which
 * fc_frame_release gives back. A frame may outlive its subscriber. A program that reads on may hold frames: those for which
 * the ring has no room any more become copies at their addresses, up to a quarter of the memory, and hold no one back. With
 * cuda_device, and across a fork, frames that are held keep their places in the ring under delivery=reliable, and hold the
 * source back once it is full.
 *
 * Threads. One thread at a time calls fc_next, fc_fd and fc_close of a subscriber. Any thread calls fc_stats_of,
 * fc_wake, fc_frame_retain and fc_frame_release. A subscriber has one thread of its own, which blocks all signals: it
 * notices the end of a leader and follows the next one.
 *
 * fork(). The child of a fork must not use a subscriber of its parent. The library closes the child's connections. CUDA
 * works in no child of a process that used it.
 *
 * Errors. Functions return a status: 0 a result, positive no result and no error, negative an error. An fc_error
 * takes one line that says what failed and how to fix it.
 */
#ifndef FRAMECAST_H
#define FRAMECAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FC_VERSION "0.2.0"

typedef enum fc_status {
    FC_OK = 0,
    /* No frame within the time. */
    FC_EMPTY = 1,
    /* fc_wake was called, or a signal arrived. */
    FC_INTERRUPTED = 2,
    /* The source ended the stream, and all of it was read. Final. */
    FC_END_OF_STREAM = 3,
    /* The source is gone without an end of stream, and did not come back within rejoin=. Final. */
    FC_SOURCE_LOST = 4,
    /* The leader is gone, and no other one came within leader_wait_ms. Final. */
    FC_LEADER_GONE = 5,

    /* An argument makes no sense. */
    FC_E_ARGUMENT = -1,
    /* The URI cannot be read. */
    FC_E_URI = -2,
    /* A key of the URI asks for what a follower cannot do. */
    FC_E_UNSUPPORTED = -3,
    /* The directory in which groups meet cannot be used. */
    FC_E_DIRECTORY = -4,
    /* No process leads the group. */
    FC_E_NO_LEADER = -5,
    /* The leader speaks another layout of the host segment. */
    FC_E_VERSION = -6,
    /* The leader takes no further follower. */
    FC_E_REFUSED = -7,
    /* The leader shared what cannot be read. */
    FC_E_BROKEN = -8,
    /* No memory, or no descriptor, is left. */
    FC_E_RESOURCES = -9,

    /* Of publishers. Not done within the time: no room, too few subscribers, not all acknowledged. */
    FC_WOULD_BLOCK = 6,
    /* The server is gone, or gave the stream up. Final. */
    FC_SERVER_GONE = 7,
    /* No process publishes for clients of the channel on this host. */
    FC_E_NO_SERVER = -10,
    /* Another client publishes on the channel. */
    FC_E_BUSY = -11,
    /* A frame, format or metadata is longer than the stream takes. */
    FC_E_TOO_LONG = -12,
    /* Of subscribers. No CUDA driver, no such GPU, or it failed. */
    FC_E_DEVICE = -13,
    /* The key file of auth= cannot be used. */
    FC_E_KEY = -14
} fc_status;

/* What a status means, in a few words. Static. */
const char *fc_status_text(fc_status status);

typedef struct fc_error {
    fc_status status;
    /* One line without a newline. */
    char text[508];
} fc_error;

typedef enum fc_loss_reason {
    /* A part of the frame was lost, and the source does not hold it any more. */
    FC_LOSS_UNREPAIRABLE = 0,
    /* Older than delivery=deadline=T allows. */
    FC_LOSS_EXPIRED = 1,
    /* A newer frame was there first, under delivery=latest. */
    FC_LOSS_SUPERSEDED = 2,
    /* Frames before it were dropped, and the stream is taken up again at a keyframe. */
    FC_LOSS_AWAITS_KEYFRAME = 3,
    /* Damaged at the source or on the way. */
    FC_LOSS_DAMAGED = 4,
    /* Published while the leader, or this subscriber, was no member. */
    FC_LOSS_NOT_A_MEMBER = 5
} fc_loss_reason;
#define FC_LOSS_REASONS 6

typedef struct fc_subscriber fc_subscriber;

enum {
    FC_FRAME_KEYFRAME = 1,
    /* The bytes lie where the leader received them. */
    FC_FRAME_IN_PLACE = 2,
    /* The bytes are a copy of this process's own from the start: delivery=latest and deadline=T hold no place of the ring, and
     * a frame that is held may be in this one's way. */
    FC_FRAME_COPIED = 4,
    /* In device memory: copied from that of another process, which had copied it from the ring already. */
    FC_FRAME_DEVICE_PEER = 8,
    /* In device memory: that of another process, where all read it (placement=shared). */
    FC_FRAME_DEVICE_SHARED = 16
};

/* A frame. Programs read it, and neither allocate nor copy the struct: later versions add fields behind the last. */
typedef struct fc_frame {
    /* Of `bytes` bytes, contiguous. Memory that cannot be written, unless FC_FRAME_COPIED. */
    const void *data;
    uint64_t bytes;
    /* Counted by the source from 0 on. */
    uint64_t number;
    /* Of the source's session: a source that starts again has another. */
    uint64_t session;
    /* The source's clock when the frame was published, ns since the epoch. */
    int64_t timestamp_ns;
    /* The source's clock less this host's, and its error, ns. INT64_MAX as error: not known. */
    int64_t clock_offset_ns;
    int64_t clock_error_ns;
    /* FC_FRAME_*. */
    uint32_t flags;
    /* The application's own bytes beside the frame, 0 … 1024. */
    uint32_t metadata_bytes;
    const void *metadata;
    /* Frames that were lost between the frame before and this one, by fc_loss_reason. */
    uint64_t lost[FC_LOSS_REASONS];
} fc_frame;

#define FC_DIMENSIONS_MAX 16
#define FC_PLANES_MAX 4
#define FC_KEYS_MAX 32
/* The longest encoding of a format. */
#define FC_FORMAT_BYTES_MAX 1024

/* The frame's bytes as one tensor, in the terms of DLPack. */
typedef struct fc_tensor {
    /* DLDataType. code: 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool. */
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
    int32_t dimensions;
    int64_t shape[FC_DIMENSIONS_MAX];
    /* In elements. fc_format_encode reads them where `strided` is not 0; else the tensor is row-major without gaps. A
     * frame's format has them in both cases. */
    int64_t strides[FC_DIMENSIONS_MAX];
    int32_t strided;
    /* From the first element to behind the last. Not encoded. */
    int64_t bytes;
} fc_tensor;

typedef struct fc_plane {
    /* Of its first row in the frame, and from one row to the next, in bytes. */
    int64_t offset;
    int64_t stride;
} fc_plane;

typedef enum fc_range {
    FC_RANGE_UNKNOWN = 0,
    /* Luma 16 … 235, of 8 bits. */
    FC_RANGE_LIMITED = 1,
    /* 0 … 255, of 8 bits. */
    FC_RANGE_FULL = 2
} fc_range;

/* The frame's bytes as a picture of raw pixels. */
typedef struct fc_picture {
    /* The pixel format's name in ffmpeg, such as "nv12" (docs/formats.md lists them). */
    const char *pixels;
    /* Its name in GStreamer 1.22; NULL where that has none. Not encoded. */
    const char *gstreamer;
    int32_t width;
    int32_t height;
    /* fc_format_encode takes 0 for planes without gaps. */
    int32_t planes;
    fc_range range;
    fc_plane plane[FC_PLANES_MAX];
} fc_picture;

/* The frame's bytes as samples in time, channels interleaved. The tensor has their type. */
typedef struct fc_samples {
    double rate;
    int32_t channels;
} fc_samples;

/* Frames a second. */
typedef struct fc_rate {
    int32_t numerator;
    int32_t denominator;
} fc_rate;

/* Text in UTF-8. */
typedef struct fc_key {
    const char *name;
    const char *value;
} fc_key;

/*
 * What a frame is, as its publisher said. Nothing in it is checked against the frame's bytes: a program looks whether
 * tensor->bytes or the planes lie within frame->bytes. Parts that are not known are NULL.
 */
typedef struct fc_format {
    /* Equal numbers of one process are equal formats. 0 in one that a program makes. */
    uint64_t id;
    const fc_tensor *tensor;
    const fc_picture *picture;
    const fc_samples *samples;
    const fc_rate *rate;
    /* Anything else, such as camera=left, in the order of the names. */
    uint32_t keys;
    const fc_key *key;
} fc_format;

typedef struct fc_options {
    /* Its sizeof: later versions add fields behind the last. */
    size_t size;
    /* How long fc_subscribe waits for a leader, and a subscriber for the next one when its leader is gone. Negative:
     * for ever. */
    int64_t leader_wait_ms;
    /* NULL, or called by fc_next, on its thread, for each run of lost frames. It calls no function of the library. */
    void (*on_loss)(void *context, uint64_t session, uint64_t first_number, uint64_t count, fc_loss_reason reason);
    void *context;
    /* NULL, or called by fc_subscribe several times a second while it waits for a leader: another value than 0 ends the
     * wait with FC_INTERRUPTED. */
    int (*on_wait)(void *context);
    /* A GPU, by its number in the CUDA driver, to which each frame is copied as well; or one of FC_DEVICE_*. */
    int32_t cuda_device;
} fc_options;

enum {
    /* That of device=cuda:N in the URI, where it has this key. */
    FC_DEVICE_OF_URI = -1,
    /* Frames are in host memory alone. */
    FC_DEVICE_NONE = -2
};

/* Ten seconds for a leader, no handlers, the device of the URI. */
#define FC_OPTIONS_DEFAULT {sizeof(fc_options), 10000, NULL, NULL, NULL, FC_DEVICE_OF_URI}

typedef struct fc_stats {
    uint64_t frames;
    uint64_t bytes;
    uint64_t lost[FC_LOSS_REASONS];
    /* Sessions of the source so far. */
    uint64_t sessions;
    /* Leaders that were followed so far. */
    uint64_t leaders;
    /* Frames that were given and not released. */
    uint64_t held;
    /* The process that leads, 0 for none and for one of another PID namespace, and whether that is the publisher itself. */
    int32_t leader_process;
    int32_t leader_is_publisher;
} fc_stats;

/* The version of the library: FC_VERSION of its header. */
const char *fc_version(void);

/*
 * Follows the host group of a channel:
 *
 *     framecast:udp?group=224.20.30.39:24326|channel=cam1|delivery=latest
 *
 * The keys are those of docs/channel.md. host-group= is `auto` unless the URI gives a name. The publisher of the channel
 * leads, where it runs on this host with host-group=; else a subscriber with the same host-group=, interface=,
 * frames-held=, ring= and attach-after=. Where no process leads, the call waits; a signal, or on_wait, ends that with FC_INTERRUPTED.
 *
 * options NULL: FC_OPTIONS_DEFAULT. error may be NULL.
 */
fc_status fc_subscribe(const char *uri, const fc_options *options, fc_subscriber **subscriber, fc_error *error);

/*
 * The next frame. FC_OK sets *frame, which the caller releases; any other status sets NULL.
 *
 * timeout_ms: 0 looks once, negative waits for ever. Statuses that are final, and errors, come again with each call.
 */
fc_status fc_next(fc_subscriber *subscriber, int timeout_ms, const fc_frame **frame, fc_error *error);

/*
 * A descriptor for poll, select and epoll: readable when fc_next has something to say. It is the subscriber's own, and
 * is neither read nor closed by programs. Call fc_next with timeout 0 until it gives FC_EMPTY before each wait.
 */
int fc_fd(fc_subscriber *subscriber);

/* Ends a wait in fc_next with FC_INTERRUPTED, the present one or the next. */
void fc_wake(fc_subscriber *subscriber);

void fc_stats_of(fc_subscriber *subscriber, fc_stats *stats);

/* NULL is allowed. Frames that are held stay readable until they are released. */
void fc_close(fc_subscriber *subscriber);

/* One more reference. Returns the frame. */
const fc_frame *fc_frame_retain(const fc_frame *frame);

/* Frames may be released in any order. NULL is allowed. */
void fc_frame_release(const fc_frame *frame);

/*
 * Frames in a GPU's memory, of a subscriber with a CUDA device. The library calls the driver, which it looks for when
 * the first such subscriber is made, in the device's primary context: that of the CUDA runtime and of PyTorch.
 *
 * fc_next begins the copy; where another process is about to put the frame on the GPU, it waits for that, a tenth of a second
 * at most. fc_frame_device makes a stream wait for it, and gives the frame's address; the bytes are not
 * to be written. `data` is the frame in host memory, as ever.
 *
 * stream: a CUstream or cudaStream_t of that context; NULL the legacy default stream, (void *)2 the one of each thread.
 * FC_STREAM_HOST: the calling thread waits.
 *
 * Any thread may call both. placement=shared in the URI reads frames where another process has them on the same GPU:
 * when that process dies, the bytes of frames that are held are undefined.
 */
#define FC_STREAM_HOST ((void *)-1)
/* The number of a subscriber's GPU; −1: none. */
int fc_cuda_device(const fc_subscriber *subscriber);
fc_status fc_frame_device(const fc_frame *frame, void *stream, const void **pointer, fc_error *error);

/* As fc_frame_release, once the stream has done all that was queued on it until now. It does not wait, but for a
 * subscriber that is closed. */
void fc_frame_release_on(const fc_frame *frame, void *stream);

/* What the frame is; NULL where its publisher did not say, or what it said cannot be read. Valid as long as the frame. */
const fc_format *fc_frame_format(const fc_frame *frame);

/* The name in ffmpeg, for fc_picture.pixels, of a pixel format of GStreamer; NULL where a format has no such. */
const char *fc_pixels_of_gstreamer(const char *name);

/* The value of a key; NULL where there is none, or no format. */
const char *fc_format_key(const fc_format *format, const char *name);

/* One line for people: "1280x720xnv12, uint8[1080x1280], 30/s, camera=left". As snprintf: gives the length of the whole
 * line, and cuts what does not fit. NULL for the format gives no text. */
int fc_format_text(const fc_format *format, char *text, size_t room);

/* The CBOR of docs/formats.md, at most FC_FORMAT_BYTES_MAX. Sets *length; the error says what makes no sense. */
fc_status fc_format_encode(const fc_format *format, void *bytes, size_t room, size_t *length, fc_error *error);

/*
 * DLPack (https://dmlc.github.io/dlpack): the frame as a tensor in host memory, for NumPy, PyTorch, JAX and others.
 *
 * Returns a DLManagedTensor (version 0.x, without a read-only flag), which holds a reference to the frame until its
 * deleter is called; NULL where memory is short, or where shape and type need more bytes than the frame has.
 *
 * code, bits, lanes: DLDataType; code 0 signed, 1 unsigned, 2 float, 4 bfloat. shape: of `dimensions` elements, in rows.
 * dimensions 0 gives the bytes as they are, uint8 and one dimension.
 *
 * The ring cannot be written: a consumer that writes into the tensor ends its process by SIGSEGV.
 */
struct DLManagedTensor;
struct DLManagedTensor *fc_frame_dlpack(const fc_frame *frame, int code, int bits, int lanes, int dimensions,
                                        const int64_t *shape);

/* The frame as the tensor of its format; as uint8 and one dimension where it has none, or is shorter. NULL where memory
 * is short. */
struct DLManagedTensor *fc_frame_tensor(const fc_frame *frame);

/*
 * The same in device memory, for PyTorch, CuPy and others: the stream, as for fc_frame_device, waits for the frame, and the
 * frame is released when the stream has come to where the tensor's deleter was called. NULL also where the subscriber
 * has no device.
 */
struct DLManagedTensor *fc_frame_cuda_tensor(const fc_frame *frame, void *stream);

/* The same as DLPack 1.x has it: with a flag that says that the tensor is not to be written. */
struct DLManagedTensorVersioned;
struct DLManagedTensorVersioned *fc_frame_tensor_versioned(const fc_frame *frame);
struct DLManagedTensorVersioned *fc_frame_cuda_tensor_versioned(const fc_frame *frame, void *stream);

/*
 * For Python alone, called with the interpreter's lock held. They give a new PyObject*: None where there is no such tensor,
 * or no memory; NULL with an exception set by the interpreter. Deleters and destructors are C functions, which also run while
 * an interpreter ends, and in which no handler of signals runs.
 */
void *fc_python_tensor(const fc_frame *frame, int code, int bits, int lanes, int dimensions, const int64_t *shape);
/* As fc_frame_tensor and its three sisters. kind: FC_EXPORT_*, 0 for fc_frame_tensor. */
enum { FC_EXPORT_DEVICE = 1, FC_EXPORT_VERSIONED = 2 };
void *fc_python_export(const fc_frame *frame, int kind, void *stream);
/*
 * A capsule "framecast.place": the memory that it points to begins with room for a handle, NULL at first, in which a call
 * such as fc_next writes one. With its last reference it gives back what is there: a handle that a handler of signals loses
 * by an exception behind the call is given back too.
 */
enum { FC_PLACE_FRAME = 0, FC_PLACE_SUBSCRIBER = 1, FC_PLACE_PUBLISHER = 2 };
void *fc_python_place(int kind);
/* Gives back the handle in the memory of a place, by fc_frame_release, fc_close or fc_publish_close. Idempotent. Needs no lock. */
void fc_python_give_back(void *place);
/* fc_frame_release_on for a reference of its own; the caller keeps its own. Needs no lock. */
void fc_python_release_on(const fc_frame *frame, void *stream);

/*
 * Publishing. The process `framecast serve --publish URI` of this host publishes what this one writes into a ring that
 * both map (docs/host-segment.md, "Publishing"). One client at a time publishes on a channel.
 *
 *     fc_publisher *scores;
 *     fc_publish_open("framecast:udp?group=224.20.30.39:24336|channel=scores", NULL, &scores, &error);
 *     fc_wait_ready(scores, 1, 30000, &error);
 *     fc_send(scores, bytes, length, NULL, -1, &error);
 *     fc_publish_end(scores, 10000, &error);
 *     fc_publish_close(scores);
 *
 * Frames that are committed while no subscriber is ready are dropped: fc_wait_ready waits for one.
 *
 * Threads. One thread at a time uses a publisher, which has no thread of its own; any thread calls
 * fc_ready_subscribers. The child of a fork must not use a publisher of its parent, but may close it.
 *
 * timeout_ms: 0 looks once, negative waits for ever; FC_WOULD_BLOCK: not within the time. A signal ends a wait with
 * FC_INTERRUPTED. Statuses that are final come again with each call.
 */
typedef struct fc_publisher fc_publisher;

typedef struct fc_publish_options {
    /* Sizeof this struct: later versions add fields behind the last. */
    size_t size;
    /* Longest frame, bytes. 0: frame-max= of the URI, else that of the server's channel. */
    uint64_t frame_max;
    /* Bytes of the ring, rounded up to whole pages. 0: a few of the longest frames; 64 MiB where that is not known. */
    uint64_t ring_bytes;
    /* How long fc_publish_open waits for a server, and for another client to end. Negative: for ever. */
    int64_t timeout_ms;
    /* NULL, or called by fc_publish_open several times a second while it waits: another value than 0 ends the wait with
     * FC_INTERRUPTED. */
    int (*on_wait)(void *context);
    void *context;
} fc_publish_options;

/* Ten seconds for a server. */
#define FC_PUBLISH_OPTIONS_DEFAULT {sizeof(fc_publish_options), 0, 0, 10000, NULL, NULL}

/* The source timestamp of a frame is the server's clock when it publishes the frame. */
#define FC_TIMESTAMP_NOW INT64_MIN

typedef struct fc_commit_options {
    /* Sizeof this struct: later versions add fields behind the last. */
    size_t size;
    /* Other than 0: a subscriber may begin here. */
    int keyframe;
    /* The application's own bytes beside the frame, 0 … 1024. */
    uint32_t metadata_bytes;
    const void *metadata;
    /* ns since the epoch. */
    int64_t timestamp_ns;
    /* Bytes of the frame, at most those that were claimed. 0: all of them. fc_send ignores it. */
    uint64_t bytes;
} fc_commit_options;

#define FC_COMMIT_OPTIONS_DEFAULT {sizeof(fc_commit_options), 0, 0, NULL, FC_TIMESTAMP_NOW, 0}

/* Publishes on a channel. The keys of the URI that count are group=, channel= and frame-max=; the others are those of
 * the server's. options NULL: FC_PUBLISH_OPTIONS_DEFAULT. error may be NULL, here and below. */
fc_status fc_publish_open(const char *uri, const fc_publish_options *options, fc_publisher **publisher, fc_error *error);

/* Room for a frame in the ring, contiguous, at a multiple of 64 bytes: *data, to be written until fc_commit or fc_abort.
 * One claim at a time. */
fc_status fc_claim(fc_publisher *publisher, uint64_t bytes, int timeout_ms, void **data, fc_error *error);
/* Publishes the claimed frame. options NULL: FC_COMMIT_OPTIONS_DEFAULT. */
fc_status fc_commit(fc_publisher *publisher, const fc_commit_options *options, fc_error *error);
/* Gives the claimed room back. */
void fc_abort(fc_publisher *publisher);
/* Publishes a copy of these bytes. */
fc_status fc_send(fc_publisher *publisher, const void *data, uint64_t bytes, const fc_commit_options *options,
                  int timeout_ms, fc_error *error);
/*
 * Describes the frames behind it, whose bytes are not checked against that:
 *
 *     fc_picture picture = {.pixels = "rgb24", .width = 640, .height = 480};
 *     fc_tensor tensor;
 *     fc_format format = {.picture = &picture, .tensor = fc_picture_tensor(&picture, &tensor) ? &tensor : NULL};
 *     fc_publish_describe(camera, &format, -1, &error);
 *
 * The format is copied. FC_E_ARGUMENT: error.text says which part of it makes no sense, and nothing was published.
 */
fc_status fc_publish_describe(fc_publisher *publisher, const fc_format *format, int timeout_ms, fc_error *error);
/* The same by 1 … 1024 bytes of CBOR (docs/formats.md). A server that cannot read them gives the stream up. */
fc_status fc_publish_format(fc_publisher *publisher, const void *cbor, size_t bytes, int timeout_ms, fc_error *error);
/* The picture as one tensor without gaps, of height, width and channels where these lie together. 0 where none describes
 * it, such as nv12 of an odd size; its planes are not looked at. */
int fc_picture_tensor(const fc_picture *picture, fc_tensor *tensor);

/* Subscribers that get the next frame. */
int fc_ready_subscribers(const fc_publisher *publisher);
/* Waits until that many are. */
fc_status fc_wait_ready(fc_publisher *publisher, int subscribers, int timeout_ms, fc_error *error);

/* Longest frame that fc_claim and fc_send take, bytes. */
uint64_t fc_publish_frame_max(const fc_publisher *publisher);

/* A descriptor for poll, select and epoll: readable when there may be room, or the server is gone. It is the publisher's
 * own, and is neither read nor closed by programs. Call fc_claim with timeout 0 until it gives FC_WOULD_BLOCK before each
 * wait. */
int fc_publish_fd(const fc_publisher *publisher);

/* Ends the stream: subscribers read all of it, then its end. Waits until they have acknowledged everything, or the server
 * has waited ten seconds for that. After FC_WOULD_BLOCK another call waits on. */
fc_status fc_publish_end(fc_publisher *publisher, int timeout_ms, fc_error *error);
/* Leaves the stream without an end, unless fc_publish_end was there: subscribers report the source lost. Claimed memory
 * stays mapped until fc_publish_close. Idempotent. */
void fc_publish_abandon(fc_publisher *publisher);
/* fc_publish_abandon, and frees everything. NULL is allowed. */
void fc_publish_close(fc_publisher *publisher);

#ifdef __cplusplus
}
#endif

#endif
