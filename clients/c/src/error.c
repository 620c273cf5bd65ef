#include "error.h"

#include <stdarg.h>
#include <stdio.h>

fc_status fci_fail(fc_error *error, fc_status status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        /* One line, whatever the URI held. */
        for (char *at = error->text; *at != 0; at++) {
            if ((unsigned char)*at < ' ') {
                *at = ' ';
            }
        }
    }
    return status;
}

const char *fc_status_text(fc_status status) {
    switch (status) {
    case FC_OK: return "done";
    case FC_EMPTY: return "no frame within the time";
    case FC_INTERRUPTED: return "interrupted";
    case FC_END_OF_STREAM: return "end of stream";
    case FC_SOURCE_LOST: return "the source is lost";
    case FC_LEADER_GONE: return "the leader is gone, and no other one came";
    case FC_E_ARGUMENT: return "an argument makes no sense";
    case FC_E_URI: return "the URI cannot be read";
    case FC_E_UNSUPPORTED: return "a follower cannot do what the URI asks for";
    case FC_E_DIRECTORY: return "the directory of the host groups cannot be used";
    case FC_E_NO_LEADER: return "no process leads the host group";
    case FC_E_VERSION: return "the leader speaks another layout of the host segment";
    case FC_E_REFUSED: return "the leader takes no further follower";
    case FC_E_BROKEN: return "the leader shared what cannot be read";
    case FC_E_RESOURCES: return "no memory or no descriptor is left";
    case FC_WOULD_BLOCK: return "not within the time";
    case FC_SERVER_GONE: return "the server of publishers is gone";
    case FC_E_NO_SERVER: return "no process publishes for clients of this channel";
    case FC_E_BUSY: return "another client publishes on the channel";
    case FC_E_DEVICE: return "the CUDA device failed, or there is none";
    case FC_E_KEY: return "the key file of auth= cannot be used";
    case FC_E_TOO_LONG: return "the frame is longer than frame-max";
    }
    return "unknown status";
}

const char *fc_version(void) {
    return FC_VERSION;
}
