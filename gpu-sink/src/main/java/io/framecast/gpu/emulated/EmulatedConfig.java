package io.framecast.gpu.emulated;

/// Settings of an emulated GPU.
///
/// @param memoryBytes device memory; host memory is taken only for pages that are allocated and written
/// @param link the modelled PCIe link, shared by all streams
/// @param streamCommandsMax commands a stream holds before its enqueuer has to wait; a power of two
/// @param residentBlocks blocks of persistent kernels, of any size, that the device holds at a time
/// @param disorder how late streams run against each other
/// @param mappedReadsPerSecond bytes that the CPU reads a second through a mapping, and waits for, as it does for
///     those of a GPU, which are not cached; [#UNLIMITED] reads as fast as the host can
/// @param nics which NICs may write into the device. Copies run as late as ever; writes of NICs are visible at once
public record EmulatedConfig(
        long memoryBytes,
        Link link,
        long mappedReadsPerSecond,
        int streamCommandsMax,
        int residentBlocks,
        Disorder disorder,
        Nics nics) {
    /// How NICs know the device's memory.
    public enum Nics {
        /// None does.
        NONE,
        /// By a descriptor of shared memory: the NICs of tests.
        BY_DESCRIPTOR,
        /// By its addresses, which are the host's: as a kernel with nvidia-peermem knows those of a GPU.
        BY_ADDRESS
    }

    /// The bandwidths of the link's directions; [#UNLIMITED] copies as fast as the host can.
    public record Link(long toDeviceBytesPerSecond, long toHostBytesPerSecond) {
        public Link {
            if (toDeviceBytesPerSecond <= 0 || toHostBytesPerSecond <= 0) {
                throw new IllegalArgumentException("emulated link: expected bytes per second > 0, got "
                        + toDeviceBytesPerSecond + " and " + toHostBytesPerSecond);
            }
        }
    }

    /// Half of all commands begin late, each stream's still in order: a program that misses a wait reads old data,
    /// or overwrites data in use.
    ///
    /// @param seed of the delays
    /// @param delayMaxNs longest delay of a command, most are much shorter; 0 delays nothing
    public record Disorder(long seed, long delayMaxNs) {
        public static final Disorder NONE = new Disorder(0, 0);

        public Disorder {
            if (delayMaxNs < 0 || delayMaxNs > 1_000_000_000) {
                throw new IllegalArgumentException("emulated disorder: expected 0 … 10^9 ns, got " + delayMaxNs);
            }
        }
    }

    public static final long UNLIMITED = Long.MAX_VALUE;
    public static final EmulatedConfig DEFAULT = new EmulatedConfig(
            16L << 30, new Link(UNLIMITED, UNLIMITED), UNLIMITED, 1024, 1024, Disorder.NONE, Nics.NONE);

    public EmulatedConfig {
        if (memoryBytes <= 0) {
            throw new IllegalArgumentException("emulated memory: expected bytes > 0, got " + memoryBytes);
        }
        if (mappedReadsPerSecond <= 0) {
            throw new IllegalArgumentException(
                    "emulated mapping: expected bytes per second > 0, got " + mappedReadsPerSecond);
        }
        if (streamCommandsMax < 2 || Integer.bitCount(streamCommandsMax) != 1) {
            throw new IllegalArgumentException(
                    "emulated stream: expected a power of two of commands, got " + streamCommandsMax);
        }
        if (residentBlocks < 1) {
            throw new IllegalArgumentException("emulated blocks: expected 1 or more, got " + residentBlocks);
        }
    }

    public EmulatedConfig withMemory(final long bytes) {
        return new EmulatedConfig(bytes, link, mappedReadsPerSecond, streamCommandsMax, residentBlocks, disorder, nics);
    }

    public EmulatedConfig withLink(final long toDevice, final long toHost) {
        final Link other = new Link(toDevice, toHost);
        return new EmulatedConfig(
                memoryBytes, other, mappedReadsPerSecond, streamCommandsMax, residentBlocks, disorder, nics);
    }

    public EmulatedConfig withMappedReads(final long perSecond) {
        return new EmulatedConfig(memoryBytes, link, perSecond, streamCommandsMax, residentBlocks, disorder, nics);
    }

    public EmulatedConfig withStreamCommands(final int commandsMax) {
        return new EmulatedConfig(memoryBytes, link, mappedReadsPerSecond, commandsMax, residentBlocks, disorder, nics);
    }

    public EmulatedConfig withResidentBlocks(final int blocks) {
        return new EmulatedConfig(memoryBytes, link, mappedReadsPerSecond, streamCommandsMax, blocks, disorder, nics);
    }

    public EmulatedConfig withDisorder(final Disorder value) {
        return new EmulatedConfig(
                memoryBytes, link, mappedReadsPerSecond, streamCommandsMax, residentBlocks, value, nics);
    }

    public EmulatedConfig withExports() {
        return with(Nics.BY_DESCRIPTOR);
    }

    public EmulatedConfig withPeerMemory() {
        return with(Nics.BY_ADDRESS);
    }

    private EmulatedConfig with(final Nics value) {
        return new EmulatedConfig(
                memoryBytes, link, mappedReadsPerSecond, streamCommandsMax, residentBlocks, disorder, value);
    }
}
