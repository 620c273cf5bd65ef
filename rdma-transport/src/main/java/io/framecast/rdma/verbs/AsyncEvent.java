package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;

/// Something that happened to a device, one of its ports, or an object on it.
///
/// @param kind of event
/// @param port the port, for events of ports; else 0
/// @param object identifies the object for [#isOf]; 0 for events of ports and devices
public record AsyncEvent(Kind kind, int port, long object) {
    private static final Kind[] KINDS = Kind.values();

    /// In the order of verbs.h.
    public enum Kind {
        CQ_ERROR(Subject.OBJECT),
        QP_FATAL(Subject.OBJECT),
        QP_REQUEST_ERROR(Subject.OBJECT),
        QP_ACCESS_ERROR(Subject.OBJECT),
        COMMUNICATION_ESTABLISHED(Subject.OBJECT),
        SQ_DRAINED(Subject.OBJECT),
        PATH_MIGRATED(Subject.OBJECT),
        PATH_MIGRATION_ERROR(Subject.OBJECT),
        DEVICE_FATAL(Subject.DEVICE),
        PORT_ACTIVE(Subject.PORT),
        PORT_ERROR(Subject.PORT),
        LID_CHANGE(Subject.PORT),
        PKEY_CHANGE(Subject.PORT),
        SUBNET_MANAGER_CHANGE(Subject.PORT),
        SRQ_ERROR(Subject.OBJECT),
        SRQ_LIMIT_REACHED(Subject.OBJECT),
        QP_LAST_REQUEST_REACHED(Subject.OBJECT),
        CLIENT_REREGISTER(Subject.PORT),
        GID_CHANGE(Subject.PORT),
        WQ_FATAL(Subject.OBJECT),
        UNKNOWN(Subject.DEVICE);

        private final Subject subject;

        Kind(final Subject subject) {
            this.subject = subject;
        }

        /// The subject of the event.
        public Subject subject() {
            return subject;
        }
    }

    /// Subjects of events.
    public enum Subject {
        DEVICE,
        PORT,
        OBJECT
    }

    static AsyncEvent read(final MemorySegment event) {
        final int type = event.get(JAVA_INT, at("event_type"));
        final Kind kind = VerbsLayouts.valueOf(KINDS, type);
        final int port = kind.subject == Subject.PORT ? event.get(JAVA_INT, at("element", "port_num")) : 0;
        final long object = kind.subject == Subject.OBJECT
                ? event.get(ADDRESS, at("element", "qp")).address()
                : 0;
        return new AsyncEvent(kind, port, object);
    }

    private static long at(final String... path) {
        return VerbsLayouts.offset(VerbsLayouts.ASYNC_EVENT, path);
    }

    /// Whether it is about this queue pair or completion queue.
    public boolean isOf(final Handle handle) {
        return object != 0 && handle.address() == object;
    }
}
