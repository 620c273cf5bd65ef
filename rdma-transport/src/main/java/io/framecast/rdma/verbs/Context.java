package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// An open device.
///
/// Threading: queries by any thread while it is open; the rest as [Handle] says.
public final class Context extends Handle {
    private final String name;
    private final Operations operations;
    private final DescriptorMode asyncMode;
    // NULL where the device has none, or refused its flag.
    private volatile MemorySegment createFlagged;

    Context(final VerbsLibrary library, final MemorySegment context, final String name) {
        super(library, context, "ibv_close_device", "device " + name);
        this.name = name;
        operations = new Operations(
                Verbs.operation(context, "poll_cq"),
                Verbs.operation(context, "req_notify_cq"),
                Verbs.operation(context, "post_send"),
                Verbs.operation(context, "post_recv"));
        createFlagged = Verbs.extendedOperation(context, "create_qp_ex");
        asyncMode = new DescriptorMode(Verbs.intAt(context, VerbsLayouts.CONTEXT, "async_fd"), "events of " + name);
    }

    /// The kernel's name of the device.
    public String name() {
        return name;
    }

    Operations operations() {
        return operations;
    }

    /// Makes a queue pair with flags; NULL where this device takes none.
    MemorySegment createFlagged() {
        return createFlagged;
    }

    /// Not to be asked again.
    void takesNoFlags() {
        createFlagged = MemorySegment.NULL;
    }

    public DeviceAttributes attributes() {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.DEVICE_ATTR);
            verbs().require("ibv_query_device", this, pointer(), attributes);
            return DeviceAttributes.read(attributes);
        }
    }

    /// Whether the device is still there: a removed device answers nothing.
    boolean answers() {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.PORT_ATTR);
            return isOpen() && verbs().errnoOf("ibv_query_port", pointer(), (byte) 1, attributes) == 0;
        }
    }

    /// @param port from 1
    public PortAttributes port(final int port) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.PORT_ATTR);
            verbs().require("ibv_query_port", this + " port " + port, pointer(), (byte) port, attributes);
            return PortAttributes.read(attributes);
        }
    }

    /// Entry `index` of a port's GID table; empty where nothing is set.
    public Optional<GidEntry> gid(final int port, final int index) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment entry = scratch.allocate(VerbsLayouts.GID_ENTRY);
            final int errno = verbs().errnoOf("_ibv_query_gid_ex", pointer(), port, index, entry, 0, entry.byteSize());
            if (errno == VerbsErrors.ENODATA) {
                return Optional.empty();
            }
            if (errno != 0) {
                throw VerbsErrors.of("_ibv_query_gid_ex", errno, this + " port " + port + " index " + index);
            }
            final Gid gid = Gid.read(entry, 0);
            return gid.isZero() ? Optional.empty() : Optional.of(entry(gid, port, index, entry));
        }
    }

    private static GidEntry entry(final Gid gid, final int port, final int index, final MemorySegment entry) {
        final int type = entry.get(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.GID_ENTRY, "gid_type"));
        final int interfaceIndex = entry.get(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.GID_ENTRY, "ndev_ifindex"));
        return new GidEntry(gid, index, port, VerbsLayouts.valueOf(GidEntry.Type.values(), type), interfaceIndex);
    }

    /// All entries set in a port's GID table, in order.
    public List<GidEntry> gids(final int port) {
        final int entries = port(port).gids();
        final List<GidEntry> gids = new ArrayList<>();
        for (int i = 0; i < entries; i++) {
            gid(port, i).ifPresent(gids::add);
        }
        return gids;
    }

    public ProtectionDomain protectionDomain() {
        return new ProtectionDomain(this);
    }

    public CompletionChannel completionChannel() {
        return new CompletionChannel(this);
    }

    /// @param entries completions that may wait at once; one more is lost and breaks the queue, so at least
    ///     the requests outstanding in all queues that complete here
    /// @param channel signals completions of an armed queue; null for a queue that is only polled
    public CompletionQueue completionQueue(final int entries, final @Nullable CompletionChannel channel) {
        return CompletionQueue.create(this, entries, channel);
    }

    /// Makes the reader of the device's events and of a port's MTU.
    ///
    /// @param port from 1
    /// @param arena of its memory
    public AsyncEvents asyncEvents(final int port, final Arena arena) {
        return new AsyncEvents(this, port, arena);
    }

    // The C object, whose events are read without waiting.
    MemorySegment unblocked() {
        final MemorySegment context = pointer();
        asyncMode.unblock();
        return context;
    }

    /// Functions of this device's provider.
    record Operations(
            MemorySegment pollCq, MemorySegment requestNotify, MemorySegment postSend, MemorySegment postReceive) {}
}
