package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;

/// The functions of one loaded libibverbs, by name, and the only place where its pointers become memory.
/// Immutable; any thread.
final class Verbs {
    private static final int NAME_BYTES_MAX = 256;

    private final SymbolLookup symbols;

    final MemorySegment getDeviceList;
    final MemorySegment freeDeviceList;
    final MemorySegment getDeviceName;
    final MemorySegment getDeviceGuid;
    final MemorySegment openDevice;
    final MemorySegment closeDevice;
    final MemorySegment queryDevice;
    final MemorySegment queryPort;
    final MemorySegment queryPkey;
    final MemorySegment queryGidEx;

    final MemorySegment getAsyncEvent;
    final MemorySegment ackAsyncEvent;
    final MemorySegment allocPd;
    final MemorySegment deallocPd;
    final MemorySegment regMr;
    final MemorySegment regDmabufMr;

    final MemorySegment deregMr;
    final MemorySegment createCompChannel;
    final MemorySegment destroyCompChannel;
    final MemorySegment createCq;
    final MemorySegment destroyCq;
    final MemorySegment getCqEvent;
    final MemorySegment ackCqEvents;
    final MemorySegment createSrq;
    final MemorySegment destroySrq;
    final MemorySegment createQp;
    final MemorySegment modifyQp;
    final MemorySegment queryQp;
    final MemorySegment destroyQp;
    final MemorySegment attachMcast;
    final MemorySegment detachMcast;
    final MemorySegment createAh;
    final MemorySegment destroyAh;

    /// Loads a library by name or path, for the life of the process: providers keep state that unloading
    /// would tear.
    ///
    /// @throws IllegalArgumentException when the system cannot load it
    Verbs(final String library) {
        symbols = SymbolLookup.libraryLookup(library, Arena.global());
        getDeviceList = find("ibv_get_device_list");
        freeDeviceList = find("ibv_free_device_list");
        getDeviceName = find("ibv_get_device_name");
        getDeviceGuid = find("ibv_get_device_guid");
        openDevice = find("ibv_open_device");
        closeDevice = find("ibv_close_device");
        queryDevice = find("ibv_query_device");
        queryPort = find("ibv_query_port");
        queryPkey = find("ibv_query_pkey");
        queryGidEx = find("_ibv_query_gid_ex");
        getAsyncEvent = find("ibv_get_async_event");
        ackAsyncEvent = find("ibv_ack_async_event");
        allocPd = find("ibv_alloc_pd");
        deallocPd = find("ibv_dealloc_pd");
        regMr = find("ibv_reg_mr");
        regDmabufMr = find("ibv_reg_dmabuf_mr");
        deregMr = find("ibv_dereg_mr");
        createCompChannel = find("ibv_create_comp_channel");
        destroyCompChannel = find("ibv_destroy_comp_channel");
        createCq = find("ibv_create_cq");
        destroyCq = find("ibv_destroy_cq");
        getCqEvent = find("ibv_get_cq_event");
        ackCqEvents = find("ibv_ack_cq_events");
        createSrq = find("ibv_create_srq");
        destroySrq = find("ibv_destroy_srq");
        createQp = find("ibv_create_qp");
        modifyQp = find("ibv_modify_qp");
        queryQp = find("ibv_query_qp");
        destroyQp = find("ibv_destroy_qp");
        attachMcast = find("ibv_attach_mcast");
        detachMcast = find("ibv_detach_mcast");
        createAh = find("ibv_create_ah");
        destroyAh = find("ibv_destroy_ah");
    }

    private MemorySegment find(final String function) {
        return symbols.find(function)
                .orElseThrow(() -> new TransportException(
                        "verbs: the library lacks " + function + "; install libibverbs of rdma-core 44 or newer"));
    }

    /// Element `index` of an array of `count` pointers.
    static MemorySegment element(final MemorySegment array, final int count, final int index) {
        return array.reinterpret(ADDRESS.byteSize() * count).getAtIndex(ADDRESS, index);
    }

    /// Sees a structure that the library made.
    static MemorySegment view(final MemorySegment pointer, final StructLayout struct) {
        return pointer.reinterpret(struct.byteSize());
    }

    /// Reads a member of a structure that the library made.
    static int intAt(final MemorySegment pointer, final StructLayout struct, final String member) {
        return view(pointer, struct).get(JAVA_INT, VerbsLayouts.offset(struct, member));
    }

    /// A function of an open device: providers differ in these, so verbs.h calls them through the context.
    static MemorySegment operation(final MemorySegment context, final String name) {
        return view(context, VerbsLayouts.CONTEXT).get(ADDRESS, VerbsLayouts.offset(VerbsLayouts.CONTEXT, "ops", name));
    }

    /// A function of an open device that came after ibv_context had its length: such lie before it. NULL where its
    /// provider, or the library, has none. It is what `verbs_get_ctx_op` of verbs.h does.
    static MemorySegment extendedOperation(final MemorySegment context, final String name) {
        final StructLayout extension = VerbsLayouts.CONTEXT_EXTENSION;
        final long abi = view(context, VerbsLayouts.CONTEXT)
                .get(JAVA_LONG, VerbsLayouts.offset(VerbsLayouts.CONTEXT, "abi_compat"));
        if (abi != VerbsLayouts.VERBS_ABI_IS_EXTENDED) {
            return MemorySegment.NULL;
        }
        final MemorySegment before = view(MemorySegment.ofAddress(context.address() - extension.byteSize()), extension);
        final long at = VerbsLayouts.offset(extension, name);
        final long bytes = before.get(JAVA_LONG, VerbsLayouts.offset(extension, "sz"));
        return bytes < extension.byteSize() - at + VerbsLayouts.CONTEXT.byteSize()
                ? MemorySegment.NULL
                : before.get(ADDRESS, at);
    }

    String deviceName(final MemorySegment capture, final MemorySegment device) {
        return string(Downcalls.pointer(getDeviceName, capture, device));
    }

    private static String string(final MemorySegment pointer) {
        return pointer.equals(MemorySegment.NULL)
                ? "?"
                : pointer.reinterpret(NAME_BYTES_MAX).getString(0);
    }
}
