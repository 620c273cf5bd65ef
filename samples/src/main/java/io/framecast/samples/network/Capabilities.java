package io.framecast.samples.network;

/// The effective capabilities of a process (capabilities(7)).
///
/// @param mask a bit for each capability
/// @param isKnown false on a system without them, or without /proc
public record Capabilities(long mask, boolean isKnown) {
    public static final int NET_ADMIN = 12;
    public static final int SYS_ADMIN = 21;

    private static final String EFFECTIVE = "CapEff:";

    /// @param status of the process, as in `/proc/self/status`; may be empty
    public static Capabilities of(final String status) {
        final String mask = status.lines()
                .filter(line -> line.startsWith(EFFECTIVE))
                .map(line -> line.substring(EFFECTIVE.length()).strip())
                .findFirst()
                .orElse("");
        return mask.matches("[0-9a-f]{1,16}")
                ? new Capabilities(Long.parseUnsignedLong(mask, 16), true)
                : new Capabilities(0, false);
    }

    public boolean has(final int capability) {
        return (mask >>> capability & 1) != 0;
    }
}
