package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/// A loaded libibverbs: lists devices and opens them. It stays loaded for the life of the process.
///
/// Threading: any thread.
public final class VerbsLibrary {
    /// System property that names another library to load, by path: a stand-in for tests, or one that is not
    /// installed.
    public static final String PROPERTY = "framecast.verbs.library";

    private static final String DEFAULT = "libibverbs.so.1";

    // The functions in use: a library that lacks one is refused when it is loaded.
    private static final String FUNCTIONS = """
            ibv_get_device_list ibv_free_device_list ibv_get_device_name
            ibv_open_device ibv_close_device ibv_query_device ibv_query_port _ibv_query_gid_ex
            ibv_get_async_event ibv_ack_async_event ibv_alloc_pd ibv_dealloc_pd
            ibv_reg_mr ibv_reg_dmabuf_mr ibv_dereg_mr
            ibv_create_comp_channel ibv_destroy_comp_channel ibv_get_cq_event ibv_ack_cq_events
            ibv_create_cq ibv_destroy_cq
            ibv_create_qp ibv_modify_qp ibv_query_qp ibv_destroy_qp
            ibv_attach_mcast ibv_detach_mcast ibv_create_ah ibv_destroy_ah
            """;

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
        return new VerbsLibrary(new Verbs(
                library,
                "libibverbs",
                "; install libibverbs1 and ibverbs-providers (Debian, Ubuntu) or libibverbs (Fedora, RHEL)",
                FUNCTIONS));
    }

    /// The devices present now.
    ///
    /// @throws io.framecast.api.error.NativeException when the kernel has no RDMA
    public List<Device> devices() {
        return withDevices(pointers -> pointers.stream()
                .map(pointer -> new Device(
                        verbs.deviceName(pointer),
                        Verbs.intAt(pointer, VerbsLayouts.DEVICE, "transport_type") == VerbsConstants.IBV_TRANSPORT_IB))
                .toList());
    }

    /// Opens a device by the kernel's name.
    ///
    /// @throws TransportException when there is no such device, or this user may not use it
    public Context open(final String name) {
        return withDevices(pointers -> {
            final List<String> names = pointers.stream().map(verbs::deviceName).toList();
            final int index = names.indexOf(name);
            if (index < 0) {
                throw new TransportException("verbs: no device " + name + "; there "
                        + (names.size() == 1 ? "is " : "are ") + (names.isEmpty() ? "none" : String.join(", ", names)));
            }
            return new Context(this, verbs.make("ibv_open_device", name, pointers.get(index)), name);
        });
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

    // Pointers of a list live no longer than the list, so devices are listed anew for each use.
    private <T> T withDevices(final Function<List<MemorySegment>, T> use) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment count = scratch.allocate(JAVA_INT);
            final MemorySegment list = verbs.make("ibv_get_device_list", "RDMA devices", count);
            try {
                final List<MemorySegment> pointers = new ArrayList<>();
                final int devices = count.get(JAVA_INT, 0);
                for (int i = 0; i < devices; i++) {
                    pointers.add(Verbs.element(list, devices, i));
                }
                return use.apply(pointers);
            } finally {
                verbs.call("ibv_free_device_list", list);
            }
        }
    }
}
