package io.framecast.api;

/// Counts of a subscriber since it was opened. Frames count when [Subscriber#poll] hands them over; datagrams and
/// reassembled bytes when they arrive, so they may run ahead of the frames.
///
/// @param frames frames handed to poll
/// @param bytes their payload bytes
/// @param inPlaceFrames frames whose bytes lie where the transport, or one copy to the device, first put them
/// @param reassembledBytes payload bytes copied once more, within the device or host, to make a frame
///     contiguous
/// @param repairedDatagrams datagrams that arrived by the repair lane and were needed
/// @param duplicateDatagrams datagrams dropped because they had arrived before
/// @param lost frames that were never given, once [Subscriber#poll] has passed them
/// @param rejectedDatagrams datagrams dropped for a bad header, wrong session or impossible value
/// @param rejoins how often a source that was lost was joined again
public record SubscriberStats(
        long frames,
        long bytes,
        long inPlaceFrames,
        long reassembledBytes,
        long repairedDatagrams,
        long duplicateDatagrams,
        LossCounts lost,
        long rejectedDatagrams,
        long rejoins) {
    /// Of a subscriber that received nothing.
    public static final SubscriberStats NONE = new SubscriberStats(0, 0, 0, 0, 0, 0, LossCounts.NONE, 0, 0);

    /// Frames that were never given, whatever the reason.
    public long droppedFrames() {
        return lost.total();
    }
}
