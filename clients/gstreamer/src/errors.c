#include "errors.h"

GstFlowReturn report(gpointer element, const fc_error *error) {
    switch (error->status) {
    case FC_E_DEVICE:
    case FC_E_NO_LEADER:
    case FC_E_NO_SERVER: GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", error->text), (NULL)); break;
    case FC_E_ARGUMENT:
    case FC_E_KEY:
    case FC_E_URI:
    case FC_E_UNSUPPORTED: GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS, ("%s", error->text), (NULL)); break;
    case FC_E_RESOURCES: GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("%s", error->text), (NULL)); break;
    case FC_E_BUSY: GST_ELEMENT_ERROR(element, RESOURCE, BUSY, ("%s", error->text), (NULL)); break;
    case FC_SERVER_GONE:
    case FC_E_TOO_LONG: GST_ELEMENT_ERROR(element, RESOURCE, WRITE, ("%s", error->text), (NULL)); break;
    default: GST_ELEMENT_ERROR(element, RESOURCE, READ, ("%s", error->text), (NULL));
    }
    return GST_FLOW_ERROR;
}
