package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/// A loaded libibverbs: lists devices and opens them. It stays loaded for the life of the process.
///
/// Threading: any thread.
public final class VerbsLibrary {
    /// System property that names another library to load, by path: a stand-in for tests, or one that is not
    /// installed.
    public static final String PROPERTY = "framecast.verbs.library";

    private static final String DEFAULT = "libibverbs.so.1";

    private final Verbs verbs;
    private final AtomicInteger handles = new AtomicInteger();

    private VerbsLibrary(final Verbs verbs) {
        this.verbs = verbs;
    }

    /// Loads the library of the system property [#PROPERTY], else the system's.
    ///
    /// @throws TransportException when there is none; the message names the package
    public static VerbsLibrary load() {
        return load(System.getProperty(PROPERTY, DEFAULT));
    }

    /// @param library name or path
    public static VerbsLibrary load(final String library) {
        try {
            return new VerbsLibrary(new Verbs(library));
        } catch (final IllegalArgumentException e) {
            throw new TransportException(
                    "verbs: no " + library
                            + " on this machine; install libibverbs1 and ibverbs-providers (Debian, Ubuntu)"
                            + " or libibverbs (Fedora, RHEL)",
                    e);
        }
    }

    /// The devices present now.
    ///
    /// @throws io.framecast.api.error.NativeException when the kernel has no RDMA
    public List<Device> devices() {
        return withDevices((scratch, pointers) ->
                pointers.stream().map(pointer -> describe(scratch, pointer)).toList());
    }

    /// Opens a device by the kernel's name.
    ///
    /// @throws TransportException when there is no such device, or this user may not use it
    public Context open(final String name) {
        return withDevices((scratch, pointers) -> {
            for (final MemorySegment pointer : pointers) {
                if (verbs.deviceName(Downcalls.newCapture(scratch), pointer).equals(name)) {
                    return open(scratch, pointer, name);
                }
            }
            throw new TransportException(
                    "verbs: no device " + name + "; there " + (pointers.size() == 1 ? "is " : "are ")
                            + (pointers.isEmpty() ? "none" : names(scratch, pointers)));
        });
    }

    private Context open(final Arena scratch, final MemorySegment device, final String name) {
        final MemorySegment capture = Downcalls.newCapture(scratch);
        final MemorySegment context = Downcalls.pointer(verbs.openDevice, capture, device);
        return new Context(this, Handle.check(context, capture, "ibv_open_device", name), name);
    }

    /// Why no device can be used here; empty when one is listed.
    public static Optional<String> unavailable() {
        try {
            return load().devices().stream().anyMatch(Device::isInfiniBandVerbs)
                    ? Optional.empty()
                    : Optional.of("verbs: no InfiniBand or RoCE device; see rdma link, or add Soft-RoCE:"
                            + " rdma link add rxe0 type rxe netdev eth0");
        } catch (final TransportException e) {
            return Optional.of(e.getMessage());
        }
    }

    /// Handles open now, of all contexts of this library.
    public int liveHandles() {
        return handles.get();
    }

    Verbs verbs() {
        return verbs;
    }

    void opened() {
        handles.incrementAndGet();
    }

    void closed() {
        handles.decrementAndGet();
    }

    private Device describe(final Arena scratch, final MemorySegment device) {
        final int transport = Verbs.intAt(device, VerbsLayouts.DEVICE, "transport_type");
        return new Device(
                verbs.deviceName(Downcalls.newCapture(scratch), device),
                Downcalls.longOf(verbs.getDeviceGuid, device),
                transport == VerbsConstants.IBV_TRANSPORT_IB);
    }

    private String names(final Arena scratch, final List<MemorySegment> devices) {
        return String.join(
                ", ",
                devices.stream()
                        .map(device -> verbs.deviceName(Downcalls.newCapture(scratch), device))
                        .toList());
    }

    // Pointers of a list live no longer than the list, so devices are listed anew for each use.
    private <T> T withDevices(final DeviceUse<T> use) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment capture = Downcalls.newCapture(scratch);
            final MemorySegment count = scratch.allocate(JAVA_INT);
            final MemorySegment list = Handle.check(
                    Downcalls.pointer(verbs.getDeviceList, capture, count),
                    capture,
                    "ibv_get_device_list",
                    "RDMA devices");
            try {
                final List<MemorySegment> pointers = new ArrayList<>();
                final int devices = count.get(JAVA_INT, 0);
                for (int i = 0; i < devices; i++) {
                    pointers.add(Verbs.element(list, devices, i));
                }
                return use.with(scratch, pointers);
            } finally {
                Downcalls.call(verbs.freeDeviceList, list);
            }
        }
    }

    @FunctionalInterface
    private interface DeviceUse<T> {
        T with(Arena scratch, List<MemorySegment> pointers);
    }
}
