#include "device.h"

#define PREFIX "cuda:"

gint device_of_text(const gchar *text) {
    guint64 ordinal;
    if (g_strcmp0(text, "host") == 0) {
        return DEVICE_NONE;
    }
    if (text == NULL || !g_str_has_prefix(text, PREFIX)
        || !g_ascii_string_to_unsigned(text + sizeof PREFIX - 1, 10, 0, G_MAXINT, &ordinal, NULL)) {
        return DEVICE_INVALID;
    }
    return (gint)ordinal;
}
