#include "metadata.h"

#define NAME "FramecastMetadata"
#define FIELD "bytes"

void metadata_register(void) {
    /* Without tags it goes along when an element makes another buffer of this one. */
    static const gchar *tags[] = {NULL};
    if (gst_meta_get_info(NAME) == NULL) {
        gst_meta_register_custom(NAME, tags, NULL, NULL, NULL);
    }
}

void metadata_put(GstBuffer *buffer, GBytes *bytes) {
    GstStructure *fields = gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, NAME));
    gst_structure_set(fields, FIELD, G_TYPE_BYTES, bytes, NULL);
}

GBytes *metadata_of(GstBuffer *buffer) {
    GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, NAME);
    const GValue *value = meta == NULL ? NULL : gst_structure_get_value(gst_custom_meta_get_structure(meta), FIELD);
    return value != NULL && G_VALUE_HOLDS(value, G_TYPE_BYTES) ? g_value_get_boxed(value) : NULL;
}
