/* Describes the frames of a publisher by a struct. */
#include "framecast.h"

fc_status fc_publish_describe(fc_publisher *publisher, const fc_format *format, int timeout_ms, fc_error *error) {
    unsigned char cbor[FC_FORMAT_BYTES_MAX];
    size_t length;
    fc_status status = fc_format_encode(format, cbor, sizeof cbor, &length, error);
    return status == FC_OK ? fc_publish_format(publisher, cbor, length, timeout_ms, error) : status;
}
