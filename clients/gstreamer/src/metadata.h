#ifndef FC_GST_METADATA_H
#define FC_GST_METADATA_H

#include <gst/gst.h>

/* A frame's metadata, as a GstCustomMeta of the name FramecastMetadata with the field `bytes` of type GBytes. */
void metadata_register(void);
void metadata_put(GstBuffer *buffer, GBytes *bytes);
/* NULL for none. As long as the buffer. */
GBytes *metadata_of(GstBuffer *buffer);

#endif
