#ifndef FC_GST_ERRORS_H
#define FC_GST_ERRORS_H

#include <framecast.h>
#include <gst/gst.h>

/* One line to the pipeline; gives GST_FLOW_ERROR. */
GstFlowReturn report(gpointer element, const fc_error *error);

#endif
