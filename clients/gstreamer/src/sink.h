#ifndef FC_GST_SINK_H
#define FC_GST_SINK_H

#include <gst/base/gstbasesink.h>

G_DECLARE_FINAL_TYPE(FramecastSink, framecast_sink, FRAMECAST, SINK, GstBaseSink)

#endif
