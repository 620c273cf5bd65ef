package io.framecast.perf.rivals;

/// The measurements of a publisher, from the end of its warm-up until its last frame was taken.
///
/// @param transport what carried the frames
/// @param bytes payload
/// @param cpuNs of the whole process, every thread of it
/// @param compileNs how long its compilers worked meanwhile
/// @param interfaceBytes what its network interface sent meanwhile, link headers included
/// @param payloadBytes payload of the datagrams that it sent on every lane, or of its connections; −1 where it
///     cannot know
/// @param wireBytes the same with IP, UDP and TCP headers, as far as it knows; −1 where it cannot
/// @param datagrams that it sent on every lane in the whole stream; 0 where it does not count them
public record SourceReport(
        String transport,
        long frames,
        long bytes,
        long cpuNs,
        long compileNs,
        long interfaceBytes,
        long payloadBytes,
        long wireBytes,
        long datagrams) {}
