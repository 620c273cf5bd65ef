package io.framecast.engine.aeron;

import io.framecast.api.error.TransportException;
import java.nio.file.Path;
import java.util.concurrent.ThreadFactory;
import org.agrona.ErrorHandler;

/// The fault that ended a media driver, or a client of it. Term buffers are files that are mapped before they have
/// pages: where their file system is full, or a file was cut, the kernel sends a signal that Java turns into an
/// [InternalError]. It ends Aeron's threads, and would leave the lanes waiting for them. Any thread.
final class DriverFault {
    // A file system with less is full: a term takes several of its pages at a time.
    private static final long FULL_BYTES = 1 << 20;

    private final Path place;
    private volatile String line = "";

    /// @param place the directory that holds the driver's directory
    DriverFault(final Path place) {
        this.place = place;
    }

    /// Takes a fault for itself, and gives other errors to the operator.
    ErrorHandler handler(final Notices notices) {
        return error -> {
            if (error instanceof InternalError) {
                noteMemory();
            } else {
                notices.onError(error);
            }
        };
    }

    /// Makes daemon threads, whose end by an error is the end of the transport too.
    ThreadFactory threads(final String name) {
        return Thread.ofPlatform()
                .daemon()
                .name(name)
                .uncaughtExceptionHandler((_, error) -> note(
                        error instanceof InternalError
                                ? memoryLine(place)
                                : "aeron: the thread " + name + " ended (" + Notices.firstLine(error)
                                        + "); open the transport anew"))
                .factory();
    }

    private void note(final String reason) {
        if (line.isEmpty()) {
            line = reason;
        }
    }

    /// Notes a fault in memory.
    void noteMemory() {
        note(memoryLine(place));
    }

    /// Notes a fault in memory, and makes the exception for it.
    TransportException ofMemory() {
        noteMemory();
        return new TransportException(line);
    }

    /// @throws TransportException when there was a fault
    void requireNone() {
        if (!line.isEmpty()) {
            throw new TransportException(line);
        }
    }

    /// One line for the user.
    static String memoryLine(final Path place) {
        final long freeBytes = place.toFile().getUsableSpace();
        return freeBytes < FULL_BYTES
                ? "aeron: " + place + " is full (" + freeBytes + " bytes are free), where the media driver has its term"
                        + " buffers; free space there, enlarge it (docker run --shm-size=1g), or take framecast:udp"
                : "aeron: a file of the media driver in " + place + " cannot be read or written any more (" + freeBytes
                        + " bytes are free there): was it cut, or the directory full for a while? Open the transport anew";
    }
}
