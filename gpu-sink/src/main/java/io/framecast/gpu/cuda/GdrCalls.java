package io.framecast.gpu.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/// Downcalls into gdrcopy's libgdrapi, version 2. A `gdr_mh_t`, a struct of one `unsigned long` passed by
/// value, is a `long` in the calling conventions of x86-64 and aarch64. Functions answer 0 or an errno.
final class GdrCalls {
    static final String LIBRARY = "libgdrapi.so.2";

    private static final Linker LINKER = Linker.nativeLinker();

    /// The library's handle, 0 where its kernel module is not loaded.
    private final long library;
    private final MethodHandle pin;
    private final MethodHandle unpin;
    private final MethodHandle map;
    private final MethodHandle unmap;
    private final MethodHandle info;
    private final MethodHandle copyTo;
    private final MethodHandle copyFrom;

    private static final class Holder {
        static final @Nullable GdrCalls CALLS = find();
    }

    private GdrCalls(final SymbolLookup symbols) {
        pin = handle(symbols, "gdr_pin_buffer", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS);
        unpin = handle(symbols, "gdr_unpin_buffer", JAVA_LONG, JAVA_LONG);
        map = handle(symbols, "gdr_map", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
        unmap = handle(symbols, "gdr_unmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        info = handle(symbols, "gdr_get_info_v2", JAVA_LONG, JAVA_LONG, ADDRESS);
        copyTo = handle(symbols, "gdr_copy_to_mapping", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        copyFrom = handle(symbols, "gdr_copy_from_mapping", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        library = open(LINKER.downcallHandle(symbols.findOrThrow("gdr_open"), FunctionDescriptor.of(JAVA_LONG)));
    }

    private static MethodHandle handle(
            final SymbolLookup symbols, final String name, final MemoryLayout... parameters) {
        return LINKER.downcallHandle(symbols.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, parameters));
    }

    /// The library's functions, or null where it is not installed, or another version.
    static @Nullable GdrCalls found() {
        return Holder.CALLS;
    }

    private static @Nullable GdrCalls find() {
        try {
            return new GdrCalls(SymbolLookup.libraryLookup(LIBRARY, Arena.global()));
        } catch (final IllegalArgumentException | java.util.NoSuchElementException _) {
            return null;
        }
    }

    private static long open(final MethodHandle open) {
        try {
            return (long) open.invokeExact();
        } catch (final Throwable e) {
            throw CudaCalls.impossible(e);
        }
    }

    /// Whether its kernel module is loaded.
    boolean isOpen() {
        return library != 0;
    }

    /// @param out one 64-bit handle
    int pin(final long deviceAddress, final long bytes, final MemorySegment out) {
        return CudaCalls.callCold(pin, library, deviceAddress, bytes, 0L, 0, out);
    }

    int unpin(final long handle) {
        return CudaCalls.callCold(unpin, library, handle);
    }

    /// @param out one pointer
    int map(final long handle, final MemorySegment out, final long bytes) {
        return CudaCalls.callCold(map, library, handle, out, bytes);
    }

    int unmap(final long handle, final long mapped, final long bytes) {
        return CudaCalls.callCold(unmap, library, handle, mapped, bytes);
    }

    /// @param out a gdr_info_v2, 48 bytes; the first 64 bits are the device address of the mapping's first byte
    int info(final long handle, final MemorySegment out) {
        return CudaCalls.callCold(info, library, handle, out);
    }

    int copyTo(final long handle, final long mapped, final long host, final long bytes) {
        try {
            return (int) copyTo.invokeExact(handle, mapped, host, bytes);
        } catch (final Throwable e) {
            throw CudaCalls.impossible(e);
        }
    }

    int copyFrom(final long handle, final long host, final long mapped, final long bytes) {
        try {
            return (int) copyFrom.invokeExact(handle, host, mapped, bytes);
        } catch (final Throwable e) {
            throw CudaCalls.impossible(e);
        }
    }
}
