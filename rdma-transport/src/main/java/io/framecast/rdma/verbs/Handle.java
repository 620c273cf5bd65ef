package io.framecast.rdma.verbs;

import io.framecast.api.error.NativeException;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// An object of libibverbs. Its owners stay open: closing an owner before its dependants is refused, in one line
/// that names them. Using a closed handle is an [IllegalStateException], never a crash.
///
/// Threading: handles may be made and closed by any thread; one handle is closed by one, after all that was
/// made from it. Which calls may run beside that is said at each.
public abstract sealed class Handle implements AutoCloseable
        permits Context,
                ProtectionDomain,
                MemoryRegion,
                CompletionChannel,
                CompletionQueue,
                QueuePair,
                AddressHandle,
                MulticastAttachment {
    private static final int NAMED_MAX = 4;

    private final VerbsLibrary library;
    private final String destroyer;
    private final String name;
    private final List<Handle> owners;
    private final Set<Handle> dependants = Collections.synchronizedSet(new LinkedHashSet<>());
    private final MemorySegment pointer;
    private boolean isOpen = true;

    /// @param destroyer the function that destroys the C object
    /// @param name of this handle in messages
    /// @param owners the first leads to the device
    Handle(
            final VerbsLibrary library,
            final MemorySegment pointer,
            final String destroyer,
            final String name,
            final Handle... owners) {
        this.library = library;
        this.pointer = pointer;
        this.destroyer = destroyer;
        this.name = name;
        this.owners = List.of(owners);
        for (final Handle owner : this.owners) {
            owner.dependants.add(this);
        }
        library.opened();
    }

    final VerbsLibrary library() {
        return library;
    }

    /// The open device.
    public final Context context() {
        Handle root = this;
        while (!root.owners.isEmpty()) {
            root = root.owners.getFirst();
        }
        return (Context) root;
    }

    final Verbs verbs() {
        return library.verbs();
    }

    /// The C object, while it exists.
    final MemorySegment pointer() {
        requireOpen();
        return pointer;
    }

    /// Where the C object is, for hot calls; the caller has checked that it exists.
    final long address() {
        return pointer.address();
    }

    final void requireOpen() {
        if (!isOpen) {
            throw new IllegalStateException("verbs: " + this + " is closed");
        }
    }

    public final boolean isOpen() {
        return isOpen;
    }

    /// Handles made from this one that are still open.
    public final int dependants() {
        return dependants.size();
    }

    /// Releases the C object. Idempotent.
    ///
    /// @throws IllegalStateException while something made from it is open
    /// @throws NativeException when the library refuses and its device still answers; the handle stays open
    @Override
    public final void close() {
        if (!isOpen) {
            return;
        }
        if (!dependants.isEmpty()) {
            throw new IllegalStateException("verbs: " + this + " cannot be closed before " + named(dependants));
        }
        try {
            release(pointer);
        } catch (final NativeException e) {
            if (!isReleasedAnyway(e)) {
                throw e;
            }
        }
        isOpen = false;
        onReleased();
        for (final Handle owner : owners) {
            owner.dependants.remove(this);
        }
        library.closed();
    }

    // Once a device was removed it refuses everything, and the kernel has released everything.
    private boolean isReleasedAnyway(final NativeException refusal) {
        return (refusal.errno() == VerbsErrors.EIO || refusal.errno() == VerbsErrors.ENODEV)
                && !context().answers();
    }

    /// Destroys the C object or throws.
    void release(final MemorySegment released) {
        verbs().require(destroyer, this, released);
    }

    /// The C object is no more, whether it was destroyed or went with its device.
    void onReleased() {}

    private static String named(final Set<Handle> handles) {
        final String names = List.copyOf(handles).stream()
                .limit(NAMED_MAX)
                .map(Handle::toString)
                .collect(Collectors.joining(", "));
        return handles.size() > NAMED_MAX ? names + " and " + (handles.size() - NAMED_MAX) + " more" : names;
    }

    @Override
    public final String toString() {
        return name;
    }
}
