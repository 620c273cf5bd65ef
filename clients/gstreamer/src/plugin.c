#include "metadata.h"
#include "sink.h"
#include "source.h"

#include <framecast.h>

#define PACKAGE "framecast"

static gboolean init(GstPlugin *plugin) {
    metadata_register();
    return gst_element_register(plugin, "framecastsrc", GST_RANK_NONE, framecast_src_get_type())
           && gst_element_register(plugin, "framecastsink", GST_RANK_NONE, framecast_sink_get_type());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, framecast, "Framecast streams of this host", init, FC_VERSION,
                  "Apache 2.0", "framecast", "https://github.com/framecast/framecast")
