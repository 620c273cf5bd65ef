#ifndef FC_GST_SOURCE_H
#define FC_GST_SOURCE_H

#include <gst/base/gstpushsrc.h>

G_DECLARE_FINAL_TYPE(FramecastSrc, framecast_src, FRAMECAST, SRC, GstPushSrc)

#endif
