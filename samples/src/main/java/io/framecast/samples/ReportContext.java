package io.framecast.samples;

import java.util.Map;

/// Gives commands of other modules what the tool's own have.
record ReportContext(Environment environment, Report report) implements ToolContext {
    @Override
    public void line(final String text) {
        environment.console().line(text);
    }

    @Override
    public void requireWritable() {
        report.requireWritable();
    }

    @Override
    public boolean hasJson() {
        return report.isWanted();
    }

    @Override
    public void result(final Map<String, Object> json, final String text) {
        report.result(json, text, false);
    }

    @Override
    public void onStop(final Runnable action) {
        environment.stop().onRequest(action);
    }

    @Override
    public boolean isStopped() {
        return environment.stop().isRequested();
    }
}
