package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/// The functions of one loaded library of rdma-core, by their names in C, and the only place where its pointers become
/// memory. Immutable; any thread.
final class Verbs {
    private static final int NAME_BYTES_MAX = 256;

    private final Map<String, MemorySegment> functions = new HashMap<>();

    /// Loads a library by name or path, for the life of the process: providers keep state that unloading would tear.
    ///
    /// @param provider the library's name in messages
    /// @param advice the end of the message that says that there is no such library
    /// @param names of functions, separated by white space
    /// @throws TransportException when there is no such library, or it lacks a function
    Verbs(final String library, final String provider, final String advice, final String names) {
        final SymbolLookup symbols;
        try {
            symbols = SymbolLookup.libraryLookup(library, Arena.global());
        } catch (final IllegalArgumentException e) {
            throw new TransportException("verbs: no " + library + " on this machine" + advice, e);
        }
        for (final String name : names.strip().split("\\s+", -1)) {
            functions.put(
                    name,
                    symbols.find(name)
                            .orElseThrow(() -> new TransportException("verbs: the library lacks " + name + "; install "
                                    + provider + " of rdma-core 44 or newer")));
        }
    }

    /// The address of a function.
    MemorySegment function(final String name) {
        return Objects.requireNonNull(functions.get(name), name);
    }

    /// Calls a function that makes an object.
    ///
    /// @param what the object, for the message of a failure
    /// @throws io.framecast.api.error.NativeException when the function returns NULL
    MemorySegment make(final String name, final Object what, final Object... arguments) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment capture = Downcalls.newCapture(scratch);
            final long made = Downcalls.call(function(name), capture, arguments);
            if (made == 0) {
                throw VerbsErrors.of(name, Downcalls.errno(capture), what.toString());
            }
            return MemorySegment.ofAddress(made);
        }
    }

    /// Calls a function that returns 0, an errno, or −1 and leaves the errno behind: rdma-core has all of these.
    ///
    /// @return 0, or the errno
    int errnoOf(final String name, final Object... arguments) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment capture = Downcalls.newCapture(scratch);
            final int result = (int) Downcalls.call(function(name), capture, arguments);
            final int errno = Downcalls.errno(capture);
            // Some drivers return the errno as a negative number and leave none behind.
            return result >= 0 ? result : errno != 0 ? errno : -result;
        }
    }

    /// As [#errnoOf].
    ///
    /// @param what the object of the call, for the message of a failure
    /// @throws io.framecast.api.error.NativeException unless the function returns 0
    void require(final String name, final Object what, final Object... arguments) {
        final int errno = errnoOf(name, arguments);
        if (errno != 0) {
            throw VerbsErrors.of(name, errno, what.toString());
        }
    }

    /// Calls a function that reports no failure.
    ///
    /// @return the address that it returns; of no meaning where it returns none
    long call(final String name, final Object... arguments) {
        try (Arena scratch = Arena.ofConfined()) {
            return Downcalls.call(function(name), Downcalls.newCapture(scratch), arguments);
        }
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

    /// A function of an open device that is younger than ibv_context: younger functions lie before it. NULL where its
    /// provider, or the library, has none. `verbs_get_ctx_op` of verbs.h does the same.
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

    /// The kernel's name of a listed device.
    String deviceName(final MemorySegment device) {
        final MemorySegment name = MemorySegment.ofAddress(call("ibv_get_device_name", device));
        return name.equals(MemorySegment.NULL)
                ? "?"
                : name.reinterpret(NAME_BYTES_MAX).getString(0);
    }
}
