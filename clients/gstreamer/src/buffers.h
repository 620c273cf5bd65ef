#ifndef FC_GST_BUFFERS_H
#define FC_GST_BUFFERS_H

#include "caps.h"

/* A buffer over the frame's bytes, which takes the caller's reference to the frame; any thread may end its life. */
GstBuffer *buffer_of_frame(const fc_frame *frame, Description *description);

/* The same picture in GStreamer's own layout, for elements that know no other; NULL where memory is short. Takes the buffer. */
GstBuffer *buffer_in_plain_layout(GstBuffer *buffer, const Description *description);

#endif
