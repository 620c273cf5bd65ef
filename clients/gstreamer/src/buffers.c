#include "buffers.h"

static void release(gpointer frame) {
    fc_frame_release(frame);
}

GstBuffer *buffer_of_frame(const fc_frame *frame, Description *description) {
    gboolean has_more = description->bytes_used != 0 && description->bytes_used < frame->bytes;
    gsize bytes = (gsize)(has_more ? description->bytes_used : frame->bytes);
    /* The ring cannot be written; a copy is this process's own. */
    GstMemoryFlags flags = frame->flags & FC_FRAME_COPIED ? 0 : GST_MEMORY_FLAG_READONLY;
    GstBuffer *buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, gst_memory_new_wrapped(flags, (gpointer)frame->data, (gsize)frame->bytes, 0, bytes,
                                                            (gpointer)frame, release));
    if (description->is_video) {
        const GstVideoInfo *video = &description->video;
        gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(video),
                                       (guint)GST_VIDEO_INFO_WIDTH(video), (guint)GST_VIDEO_INFO_HEIGHT(video),
                                       GST_VIDEO_INFO_N_PLANES(video), description->offset, description->stride);
    }
    return buffer;
}

static gboolean copy(GstBuffer *to, GstBuffer *from, const GstVideoInfo *video) {
    GstVideoFrame source;
    GstVideoFrame target;
    if (!gst_video_frame_map(&source, video, from, GST_MAP_READ)) {
        return FALSE;
    }
    gboolean copied = gst_video_frame_map(&target, video, to, GST_MAP_WRITE);
    if (copied) {
        copied = gst_video_frame_copy(&target, &source);
        gst_video_frame_unmap(&target);
    }
    gst_video_frame_unmap(&source);
    return copied;
}

GstBuffer *buffer_in_plain_layout(GstBuffer *buffer, const Description *description) {
    GstBuffer *plain = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&description->video), NULL);
    if (plain != NULL && !copy(plain, buffer, &description->video)) {
        gst_clear_buffer(&plain);
    }
    gst_buffer_unref(buffer);
    return plain;
}
