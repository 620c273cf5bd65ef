package io.framecast.engine.aeron;

import io.aeron.Aeron;
import io.aeron.CncFileDescriptor;
import io.aeron.CommonContext;
import io.aeron.driver.Configuration;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.PrivateDirectory;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.agrona.CloseHelper;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.jspecify.annotations.Nullable;

/// A media driver, and this transport's client of it.
///
/// A channel on the network has a driver of its own: one thread for sending, receiving and conducting, so that
/// four processes on two cores stay polite, and a slow subscriber shares no image with its neighbours. A
/// shared-memory channel uses the driver that runs in its directory, of this process or another; where none
/// runs, this process starts one and keeps it until its last transport on that directory is closed.
final class DriverLease implements AutoCloseable {
    /// A stopped process (debugger, SIGSTOP, suspended laptop) finds its own driver and client alive when it
    /// goes on: Framecast judges the silence of a peer, not Aeron.
    private static final long PRIVATE_TIMEOUT_MS = TimeUnit.HOURS.toMillis(1);

    private static final long SHARED_TIMEOUT_MS = 10_000;

    /// Of a private driver: 8192 counters, more than a source with all its members takes. A driver writes each page of
    /// its counters and of their names when it starts: Aeron's default is 40 MiB of shared memory, these are 5.
    private static final int PRIVATE_COUNTERS_BYTES = 1 << 20;

    private static final int SPINS_MAX = 10;
    private static final int YIELDS_MAX = 20;
    private static final long PARK_NS_MIN = 1_000;
    private static final long PARK_NS_MAX = 500_000;

    /// How often the client looks for new images; a lane sees its peer this much later at worst.
    private static final long CLIENT_PERIOD_MS = 4;

    private static final ConcurrentHashMap<Path, SharedDriver> SHARED = new ConcurrentHashMap<>();

    private static final String DRIVER = "driver";

    private final Aeron client;
    private final DriverFault fault;
    private final Runnable release;

    private DriverLease(final Aeron client, final DriverFault fault, final Runnable release) {
        this.client = client;
        this.fault = fault;
        this.release = release;
    }

    /// A driver of this transport's own.
    static DriverLease ownDriver(final Notices notices) {
        final DriverDirectory directory = DriverDirectory.create();
        final DriverFault fault = new DriverFault(directory.parent());
        @Nullable MediaDriver driver = null;
        try {
            driver = launch(directory.driver(), PRIVATE_TIMEOUT_MS, PRIVATE_COUNTERS_BYTES, fault, notices);
            final MediaDriver launched = driver;
            final Aeron client = connect(directory.driver(), PRIVATE_TIMEOUT_MS, fault, notices);
            return new DriverLease(client, fault, () -> CloseHelper.quietCloseAll(launched, directory));
        } catch (final RuntimeException e) {
            CloseHelper.quietCloseAll(driver, directory);
            throw e;
        }
    }

    /// The driver of `directory`: the one that runs there, else one in a directory within it.
    static DriverLease sharedDriver(final Path directory, final Notices notices) {
        final Path key = directory.toAbsolutePath().normalize();
        final SharedDriver shared = SHARED.compute(
                key, (path, driver) -> (driver == null ? SharedDriver.at(path, notices) : driver).retained());
        try {
            return new DriverLease(
                    connect(shared.directory(), SHARED_TIMEOUT_MS, shared.fault(), notices),
                    shared.fault(),
                    () -> release(key));
        } catch (final RuntimeException e) {
            release(key);
            throw e;
        }
    }

    private static void release(final Path key) {
        SHARED.computeIfPresent(key, (_, driver) -> driver.released());
    }

    Aeron client() {
        return client;
    }

    /// The fault that ended the driver or the client, if any.
    DriverFault fault() {
        return fault;
    }

    @Override
    public void close() {
        // In an interrupted thread Aeron does not wait for its own threads, and unmaps memory that they still
        // use.
        final boolean interrupted = Thread.interrupted();
        try {
            CloseHelper.quietClose(client);
            release.run();
        } catch (final InternalError _) {
            // The directory is swept by the next process.
            fault.noteMemory();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static MediaDriver launch(
            final Path directory,
            final long timeoutMs,
            final int countersBytes,
            final DriverFault fault,
            final Notices notices) {
        final long timeoutNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        final MediaDriver.Context context = new MediaDriver.Context()
                .aeronDirectoryName(directory.toString())
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(new BackoffIdleStrategy(SPINS_MAX, YIELDS_MAX, PARK_NS_MIN, PARK_NS_MAX))
                .sharedThreadFactory(fault.threads("framecast-aeron-driver"))
                .errorHandler(fault.handler(notices))
                .counterValuesBufferLength(countersBytes)
                .clientLivenessTimeoutNs(timeoutNs)
                .publicationUnblockTimeoutNs(2 * timeoutNs)
                .warnIfDirectoryExists(false)
                .printConfigurationOnStart(false)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true)
                // Channels name their own buffers; these only have to pass the driver's check at start.
                .initialWindowLength(LocalLink.MTU_BYTES_MAX)
                .socketRcvbufLength(0)
                .socketSndbufLength(0);
        context.driverTimeoutMs(timeoutMs);
        try {
            return MediaDriver.launch(context);
        } catch (final InternalError _) {
            throw fault.ofMemory();
        } catch (final Exception e) {
            // Aeron throws an IOException of a full file system, without declaring it.
            throw new TransportException(
                    "aeron: no media driver in " + directory + " (" + Notices.firstLine(e)
                            + "); free space there, or choose another directory",
                    e);
        }
    }

    private static Aeron connect(
            final Path directory, final long timeoutMs, final DriverFault fault, final Notices notices) {
        try {
            return Aeron.connect(new Aeron.Context()
                    .aeronDirectoryName(directory.toString())
                    .errorHandler(fault.handler(notices))
                    .subscriberErrorHandler(fault.handler(notices))
                    .driverTimeoutMs(timeoutMs)
                    .idleStrategy(new SleepingMillisIdleStrategy(CLIENT_PERIOD_MS))
                    .threadFactory(fault.threads("framecast-aeron-client")));
        } catch (final InternalError _) {
            throw fault.ofMemory();
        } catch (final Exception e) {
            throw new TransportException(
                    "aeron: no answer from the media driver in " + directory + " (" + Notices.firstLine(e)
                            + "); restart it",
                    e);
        }
    }

    /// A driver that transports of this process use together.
    ///
    /// @param directory where it runs
    /// @param fault of it, or of a client of it in this process
    /// @param driver null where another process runs it
    /// @param lock held while this process runs it
    private record SharedDriver(
            Path directory,
            DriverFault fault,
            @Nullable MediaDriver driver,
            @Nullable DirectoryLock lock,
            int users) {
        static SharedDriver at(final Path given, final Notices notices) {
            requireOwn(given);
            final DriverFault fault = new DriverFault(given);
            if (isActive(given)) {
                return new SharedDriver(given, fault, null, null, 0);
            }
            requireReplaceable(given);
            // Aeron deletes its directory and makes it anew, for all users to read: this one is within another.
            final Path directory = given.resolve(DRIVER);
            if (isActive(directory)) {
                return new SharedDriver(directory, fault, null, null, 0);
            }
            final DirectoryLock lock = DirectoryLock.tryLock(given);
            if (lock == null) {
                awaitActive(directory);
                return new SharedDriver(directory, fault, null, null, 0);
            }
            try {
                return new SharedDriver(
                        directory,
                        fault,
                        launch(
                                directory,
                                SHARED_TIMEOUT_MS,
                                Configuration.COUNTERS_VALUES_BUFFER_LENGTH_DEFAULT,
                                fault,
                                notices),
                        lock,
                        0);
            } catch (final RuntimeException e) {
                lock.close();
                throw e;
            }
        }

        SharedDriver retained() {
            return new SharedDriver(directory, fault, driver, lock, users + 1);
        }

        @Nullable
        SharedDriver released() {
            if (users > 1) {
                return new SharedDriver(directory, fault, driver, lock, users - 1);
            }
            CloseHelper.quietCloseAll(driver, lock);
            return null;
        }

        private static boolean isActive(final Path directory) {
            try {
                return CommonContext.isDriverActive(directory.toFile(), SHARED_TIMEOUT_MS, _ -> {});
            } catch (final RuntimeException e) {
                throw new TransportException(
                        "ipc: " + directory + " holds a media driver that does not answer (" + Notices.firstLine(e)
                                + "); stop it or choose another directory",
                        e);
            }
        }

        private static void awaitActive(final Path directory) {
            final long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SHARED_TIMEOUT_MS);
            while (!isActive(directory)) {
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new TransportException("ipc: another process is starting a media driver in " + directory
                            + " and does not finish; " + "stop it or choose another directory");
                }
                Waiting.pause();
            }
        }

        /// Requires a directory that only this user may write: another user could take the frames. Makes a missing one.
        private static void requireOwn(final Path given) {
            try {
                if (given.getParent() != null) {
                    Files.createDirectories(given.getParent());
                }
                Files.createDirectory(given, PrivateDirectory.ownerOnly());
            } catch (final FileAlreadyExistsException _) {
                if (!PrivateDirectory.isOwn(given)) {
                    throw new TransportException("ipc: " + given
                            + " is not a directory into which this user alone writes; chmod go-w it, name the"
                            + " directory and no link, or choose another one");
                }
            } catch (final IOException e) {
                throw new TransportException(
                        "ipc: no directory " + given + " (" + e.getMessage() + "); make its parent writable", e);
            }
        }

        /// Requires a directory with nothing but files of this project's drivers, which no other user may read.
        private static void requireReplaceable(final Path given) {
            final String[] entries = given.toFile().list();
            if (entries == null) {
                throw new TransportException("ipc: this user cannot read " + given + "; choose another directory");
            }
            if (List.of(entries).contains(CncFileDescriptor.CNC_FILE)) {
                throw new TransportException("ipc: " + given
                        + " has the files of a media driver that does not run; start it, or delete them");
            }
            final boolean replaceable =
                    Stream.of(entries).allMatch(entry -> entry.equals(DRIVER) || entry.equals(DirectoryLock.LOCK));
            if (!replaceable) {
                throw new TransportException(
                        "ipc: " + given + " is not a media driver's directory; name a new or empty one");
            }
            if (!PrivateDirectory.is(given)) {
                throw new TransportException("ipc: other users may read " + given + "; chmod 700 it");
            }
        }
    }
}
