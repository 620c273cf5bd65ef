package io.framecast.samples;

import java.io.PrintStream;
import java.util.Locale;

/// Standard error for people: lines, and on a terminal one progress line that is overwritten in place. Any
/// thread.
public final class Console {
    /// Begins a line that says why something failed.
    public static final String COMPLAINT = "framecast: ";
    /// Begins a progress line of a demo's child, which its parent reads.
    public static final String PROGRESS_MARK = "@progress ";

    private static final long TERMINAL_INTERVAL_NS = 200_000_000;
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintStream stream;
    private final boolean terminal;
    private boolean machine;
    private boolean progressShown;
    private long shownNs;

    public Console(final PrintStream stream, final boolean terminal) {
        this.stream = stream;
        this.terminal = terminal;
        this.shownNs = System.nanoTime() - TERMINAL_INTERVAL_NS;
    }

    /// Progress goes to a parent process instead of a terminal.
    synchronized void useMachineProgress() {
        machine = true;
    }

    public synchronized void line(final String text) {
        clearProgress();
        stream.println(text);
        stream.flush();
    }

    /// A line that says why something failed.
    public void complain(final String text) {
        line(COMPLAINT + text);
    }

    /// Whether a progress line would be shown now: ask before building one.
    public synchronized boolean isProgressDue() {
        return (terminal || machine) && System.nanoTime() - shownNs >= TERMINAL_INTERVAL_NS;
    }

    /// @param frames so far
    /// @param bytes so far
    /// @param activity `published`, `received`, `waiting …`
    public synchronized void progress(final String activity, final long frames, final long bytes) {
        shownNs = System.nanoTime();
        if (machine) {
            stream.println(PROGRESS_MARK + frames + " " + bytes + " " + activity);
        } else if (terminal) {
            stream.print(CLEAR_LINE + progressText(activity, frames, bytes));
            progressShown = true;
        }
        stream.flush();
    }

    public synchronized void clearProgress() {
        if (progressShown) {
            stream.print(CLEAR_LINE);
            stream.flush();
            progressShown = false;
        }
    }

    private static String progressText(final String activity, final long frames, final long bytes) {
        return String.format(Locale.ROOT, "%s %,d frames, %,.1f MB", activity, frames, bytes / 1e6);
    }
}
