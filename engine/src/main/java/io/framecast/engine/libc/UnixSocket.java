package io.framecast.engine.libc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.framecast.api.error.TransportException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A local socket that keeps messages apart (SOCK_SEQPACKET) and carries descriptors (SCM_RIGHTS, unix(7)).
///
/// One thread at a time. Owns its descriptor until [#close].
public final class UnixSocket implements AutoCloseable {
    /// Most bytes of a message.
    public static final int MESSAGE_BYTES = 64;
    /// Descriptors that a message carries at most.
    public static final int DESCRIPTORS_MAX = 4;

    private static final SocketOption PEER_CREDENTIALS = new SocketOption(Linux.SOL_SOCKET, Linux.SO_PEERCRED);
    private static final int BACKLOG = 64;
    private static final int PATH_BYTES_MAX = 107;
    private static final int SOCKADDR_UN_BYTES = 110;
    private static final int UCRED_BYTES = 12;
    private static final int UCRED_UID = 4;
    private static final int CONTROL_BYTES = 32;

    private final int descriptor;
    // To which it was connected.
    private @Nullable Path path;
    private long inode;
    private boolean closed;

    private UnixSocket(final int descriptor) {
        this.descriptor = descriptor;
    }

    private static UnixSocket open() {
        try (Arena scratch = Arena.ofConfined()) {
            final int made =
                    Libc.socket(Libc.newCapture(scratch), Linux.AF_UNIX, Linux.SOCK_SEQPACKET | Linux.SOCK_CLOEXEC, 0);
            if (made < 0) {
                throw new TransportException("host group: no socket left; raise ulimit -n");
            }
            return new UnixSocket(made);
        }
    }

    private static MemorySegment address(final Path path, final Arena arena) {
        final byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
        if (bytes.length > PATH_BYTES_MAX) {
            throw new TransportException("host group: the path of its socket is longer than " + PATH_BYTES_MAX
                    + " bytes, " + path + "; set XDG_RUNTIME_DIR to a shorter one");
        }
        final MemorySegment address = arena.allocate(SOCKADDR_UN_BYTES, Long.BYTES);
        address.set(JAVA_SHORT, 0, (short) Linux.AF_UNIX);
        MemorySegment.copy(bytes, 0, address, JAVA_BYTE, Short.BYTES, bytes.length);
        return address;
    }

    /// A socket at a path that does not exist yet.
    public static UnixSocket listen(final Path path) {
        final UnixSocket socket = open();
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment capture = Libc.newCapture(scratch);
            if (Libc.bind(capture, socket.descriptor, address(path, scratch), SOCKADDR_UN_BYTES) != 0
                    || Libc.listen(socket.descriptor, BACKLOG) != 0) {
                final int error = Libc.errno(capture);
                throw new TransportException("host group: cannot listen at " + path + ": " + Libc.strerror(error)
                        + "; make its directory writable, or set XDG_RUNTIME_DIR to a directory of yours");
            }
            return socket;
        } catch (final TransportException e) {
            socket.close();
            throw e;
        }
    }

    /// True when a process accepts connections at a path.
    public static boolean isListening(final Path path) {
        final UnixSocket connection = Files.exists(path) ? connect(path) : null;
        if (connection != null) {
            connection.close();
        }
        return connection != null;
    }

    /// A connection to the socket at a path.
    ///
    /// @return null where no process of this user listens
    public static @Nullable UnixSocket connect(final Path path) {
        final UnixSocket socket = open();
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment capture = Libc.newCapture(scratch);
            if (Libc.connect(capture, socket.descriptor, address(path, scratch), SOCKADDR_UN_BYTES) == 0
                    && socket.peerUser() == Libc.getuid()) {
                socket.path = path;
                socket.inode = inode(path);
                return socket;
            }
        } catch (final TransportException e) {
            socket.close();
            throw e;
        }
        socket.close();
        return null;
    }

    /// Another connection to the path that this one is connected to; null where no process listens any more.
    @Nullable
    public UnixSocket again() {
        return path == null ? null : connect(path);
    }

    /// The file of the socket that it was connected to, by its number: another one has another number as long
    /// as a process listens at this one. 0 where it was removed at once.
    public long inode() {
        return inode;
    }

    /// Whether the other end has not read all that was sent to it.
    public boolean isUnread() {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment bytes = scratch.allocate(JAVA_INT);
            return Libc.ioctl(descriptor, Linux.SIOCOUTQ, bytes) == 0 && bytes.get(JAVA_INT, 0) > 0;
        }
    }

    /// Whether another socket is at the path now.
    public boolean isReplaced() {
        final long present = path == null ? 0 : inode(path);
        return present != 0 && present != inode;
    }

    /// The next connection; null when there is none.
    @Nullable
    public UnixSocket accept() {
        final int accepted = Libc.accept4(descriptor, Linux.SOCK_CLOEXEC);
        return accepted < 0 ? null : new UnixSocket(accepted);
    }

    public int descriptor() {
        return descriptor;
    }

    /// The file at a path, by its number; 0 where there is none.
    public static long inode(final Path path) {
        try {
            return ((Number) Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS)).longValue();
        } catch (final IOException e) {
            return 0;
        }
    }

    /// The user at the other end; −1 where the kernel gives none.
    public long peerUser() {
        return peer(UCRED_UID);
    }

    /// The process that listened, or connected, at the other end; 0 where it is of a PID namespace that is not
    /// seen from this one, −1 where the kernel gives none.
    public long peerProcess() {
        return peer(0);
    }

    /// A process in a line for an operator.
    ///
    /// @param process as [#peerProcess] gives it
    public static String describe(final long process) {
        return process > 0 ? "process " + process : "a process of another PID namespace";
    }

    private long peer(final int field) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment credentials = scratch.allocate(UCRED_BYTES, Long.BYTES);
            final MemorySegment bytes = scratch.allocate(JAVA_INT);
            bytes.set(JAVA_INT, 0, UCRED_BYTES);
            final int result =
                    Libc.getsockopt(Libc.newCapture(scratch), descriptor, PEER_CREDENTIALS, credentials, bytes);
            return result == 0 ? Integer.toUnsignedLong(credentials.get(JAVA_INT, field)) : -1;
        }
    }

    /// Sends a message with descriptors, which stay the caller's.
    ///
    /// @return false when the other end is gone
    public boolean send(final MemorySegment message, final int... descriptors) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment header = header(scratch, message);
            if (descriptors.length > 0) {
                final MemorySegment control = scratch.allocate(CONTROL_BYTES, Long.BYTES);
                control.set(JAVA_LONG, Linux.CMSG_LEN, Linux.CMSG_DATA + (long) descriptors.length * Integer.BYTES);
                control.set(JAVA_INT, Linux.CMSG_LEVEL, Linux.SOL_SOCKET);
                control.set(JAVA_INT, Linux.CMSG_TYPE, Linux.SCM_RIGHTS);
                for (int i = 0; i < descriptors.length; i++) {
                    control.set(JAVA_INT, Linux.CMSG_DATA + (long) i * Integer.BYTES, descriptors[i]);
                }
                header.set(JAVA_LONG, Linux.MSG_CONTROL, control.address());
                header.set(JAVA_LONG, Linux.MSG_CONTROLLEN, control.byteSize());
            }
            return Libc.sendmsg(descriptor, header, Linux.MSG_NOSIGNAL | Linux.MSG_DONTWAIT) >= 0;
        }
    }

    /// Receives a message.
    ///
    /// @param into at least [#MESSAGE_BYTES] long
    /// @param descriptors takes the descriptors that came with it; they are the caller's then
    /// @param flags such as [Linux#MSG_DONTWAIT]
    /// @return its length; 0 when the other end is gone; −1 when nothing is there
    public int receive(final MemorySegment into, final int[] descriptors, final int flags) {
        Arrays.fill(descriptors, -1);
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment header = header(scratch, into);
            final MemorySegment control = scratch.allocate(CONTROL_BYTES, Long.BYTES);
            header.set(JAVA_LONG, Linux.MSG_CONTROL, control.address());
            header.set(JAVA_LONG, Linux.MSG_CONTROLLEN, control.byteSize());
            final MemorySegment capture = Libc.newCapture(scratch);
            long bytes = Libc.recvmsg(capture, descriptor, header, flags | Linux.MSG_CMSG_CLOEXEC);
            if (bytes < 0 && Libc.errno(capture) == Linux.ECONNRESET) {
                // The other end left before it read everything. Its last message may lie behind that, once.
                bytes = Libc.recvmsg(capture, descriptor, header, flags | Linux.MSG_CMSG_CLOEXEC);
            }
            if (bytes < 0) {
                final int error = Libc.errno(capture);
                return error == Linux.EAGAIN || error == Linux.EINTR ? -1 : 0;
            }
            final long controlBytes = header.get(JAVA_LONG, Linux.MSG_CONTROLLEN);
            if (controlBytes >= Linux.CMSG_DATA
                    && control.get(JAVA_INT, Linux.CMSG_LEVEL) == Linux.SOL_SOCKET
                    && control.get(JAVA_INT, Linux.CMSG_TYPE) == Linux.SCM_RIGHTS) {
                final long length = Math.min(control.get(JAVA_LONG, Linux.CMSG_LEN), controlBytes);
                final long count = Math.min(descriptors.length, (length - Linux.CMSG_DATA) / Integer.BYTES);
                for (int i = 0; i < count; i++) {
                    descriptors[i] = control.get(JAVA_INT, Linux.CMSG_DATA + (long) i * Integer.BYTES);
                }
            }
            return (int) bytes;
        }
    }

    private static MemorySegment header(final Arena arena, final MemorySegment message) {
        final MemorySegment vector = arena.allocate(Linux.IOVEC_BYTES, Long.BYTES);
        vector.set(JAVA_LONG, Linux.IOV_BASE, message.address());
        vector.set(JAVA_LONG, Linux.IOV_LEN, message.byteSize());
        final MemorySegment header = arena.allocate(Linux.MMSGHDR_BYTES, Long.BYTES);
        header.set(JAVA_LONG, Linux.MSG_IOV, vector.address());
        header.set(JAVA_LONG, Linux.MSG_IOVLEN, 1);
        return header;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Libc.close(descriptor);
        }
    }
}
