package io.framecast.perf.chaos;

/// What children say, a line each: a word from here, then fields between spaces. Times are those of
/// [System#nanoTime], which on Linux is one clock for all processes.
final class ChildLines {
    /// `@joined frame time`
    static final String JOINED = "@joined";
    /// `@gap from to`: no frame for longer than [#GAP_MIN_NS].
    static final String GAP = "@gap";
    /// `@progress last-frame frames time`
    static final String PROGRESS = "@progress";
    /// `@wrong text`
    static final String WRONG = "@wrong";
    /// `@end last-frame frames`: of a subscriber, end of stream; of a publisher, everybody acknowledged.
    static final String END = "@end";
    /// `@over text`: ended otherwise.
    static final String OVER = "@over";
    /// `@memory heap rss descriptors`
    static final String MEMORY = "@memory";

    /// To a child: tell your memory.
    static final String TELL_MEMORY = "memory";
    /// To a publisher: end the stream.
    static final String END_STREAM = "end";

    /// `@shouted datagrams real`: garbage was sent, and how many real datagrams there were to change.
    static final String SHOUTED = "@shouted";
    /// To a stranger: `garbage seed milliseconds path…`.
    static final String SHOUT = "garbage";

    static final long GAP_MIN_NS = 100_000_000;
    static final long PROGRESS_NS = 200_000_000;

    private ChildLines() {}
}
