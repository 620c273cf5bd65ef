package io.framecast.engine.libc;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Locks on single bytes of a file (fcntl(2), "Open file description locks"). A lock belongs to an open file:
/// the kernel takes it back when the last descriptor and the last mapping of that open file are gone, however
/// their process ended. Processes of every PID namespace see it, so it is a sign of life where a PID is none.
///
/// Stateless; any thread.
public final class ByteLocks {
    private ByteLocks() {}

    /// A descriptor of the same file with locks of its own; −1 where none is left.
    public static int reopen(final int descriptor) {
        try (Arena scratch = Arena.ofConfined()) {
            return Libc.open(scratch.allocateFrom("/proc/self/fd/" + descriptor), Linux.O_RDWR | Linux.O_CLOEXEC);
        }
    }

    /// Locks a byte.
    ///
    /// @return false where another open file has locked it
    public static boolean lock(final int descriptor, final long at) {
        return call(descriptor, Linux.F_OFD_SETLK, Linux.F_WRLCK, at) >= 0;
    }

    /// Locks a byte when no other open file has locked it any more.
    ///
    /// @return false where that cannot be
    public static boolean await(final int descriptor, final long at) {
        return call(descriptor, Linux.F_OFD_SETLKW, Linux.F_WRLCK, at) >= 0;
    }

    public static void unlock(final int descriptor, final long at) {
        call(descriptor, Linux.F_OFD_SETLK, Linux.F_UNLCK, at);
    }

    /// Whether another open file has locked a byte.
    public static boolean isLocked(final int descriptor, final long at) {
        return call(descriptor, Linux.F_OFD_GETLK, Linux.F_WRLCK, at) != Linux.F_UNLCK;
    }

    // The type of lock that is there then; −1 where the call failed.
    private static int call(final int descriptor, final int command, final int type, final long at) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment lock = scratch.allocate(Linux.FLOCK_BYTES, Long.BYTES);
            // The owner's number stays 0.
            lock.set(JAVA_SHORT, 0, (short) type);
            lock.set(JAVA_LONG, Linux.FLOCK_START, at);
            lock.set(JAVA_LONG, Linux.FLOCK_LEN, 1);
            return Libc.fcntl(descriptor, command, lock.address()) < 0 ? -1 : lock.get(JAVA_SHORT, 0);
        }
    }
}
