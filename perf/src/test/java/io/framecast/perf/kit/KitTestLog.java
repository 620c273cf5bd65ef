package io.framecast.perf.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/// The outcome of each test, and which one runs since when. Tests end on one thread, and another looks.
final class KitTestLog implements TestExecutionListener {
    private final List<Map<String, Object>> tests = new ArrayList<>();
    private int passed;
    private int failed;
    private int skipped;
    private String running = "";
    private long sinceNs;
    private boolean over;
    private @Nullable String hung;

    @Override
    public synchronized void executionStarted(final TestIdentifier test) {
        running = name(test);
        sinceNs = System.nanoTime();
        if (test.isTest()) {
            System.err.println("begins: " + running);
        }
    }

    @Override
    public synchronized void executionSkipped(final TestIdentifier test, final String reason) {
        skipped++;
        add(test, "skipped", reason);
    }

    @Override
    public synchronized void executionFinished(final TestIdentifier test, final TestExecutionResult result) {
        sinceNs = System.nanoTime();
        final String why = result.getThrowable().map(KitTestLog::oneLine).orElse("");
        // A class whose assumption fails skips all its tests, and JUnit reports none of them.
        if (!test.isTest() && result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
            return;
        }
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                passed++;
                add(test, "passed", why);
            }
            case FAILED -> {
                failed++;
                add(test, "failed", why);
            }
            case ABORTED -> {
                skipped++;
                add(test, "skipped", why);
            }
        }
    }

    private void add(final TestIdentifier test, final String verdict, final String reason) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", name(test));
        json.put("result", verdict);
        if (!reason.isEmpty()) {
            json.put("reason", reason);
        }
        tests.add(json);
        System.err.println(verdict + ": " + name(test) + (reason.isEmpty() ? "" : ": " + reason));
    }

    /// Whether one has run for longer: from then on nothing else ends.
    synchronized boolean isHanging(final long longestNs) {
        // To find them takes what it takes.
        if (!over && !running.isEmpty() && System.nanoTime() - sinceNs > longestNs) {
            over = true;
            hung = running;
        }
        return hung != null;
    }

    /// All have run.
    ///
    /// @return false when one was held to hang before
    synchronized boolean end() {
        over = true;
        return hung == null;
    }

    synchronized String running() {
        return running;
    }

    synchronized boolean isGood() {
        return failed == 0 && hung == null;
    }

    synchronized Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("passed", passed);
        json.put("failed", failed);
        json.put("skipped", skipped);
        if (hung != null) {
            json.put("hung", hung);
        }
        json.put("tests", List.copyOf(tests));
        return json;
    }

    private static String name(final TestIdentifier test) {
        return KitTests.name(test.getSource().orElse(null), test.getDisplayName());
    }

    private static String oneLine(final Throwable why) {
        return String.valueOf(why).replaceAll("\\s+", " ");
    }
}
