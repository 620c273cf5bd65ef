package io.framecast.samples;

import java.util.Map;

/// Services of the tool for every command: lines for people, one JSON object, the user's wish to end early.
public interface ToolContext {
    /// A line to stderr. Any thread.
    void line(String text);

    /// Finds out before a long run whether `--json` can be written.
    ///
    /// @throws io.framecast.api.error.ConfigException naming file and reason
    void requireWritable();

    /// Whether `--json` was given, so that [#result] prints no text.
    boolean hasJson();

    /// The result, once: JSON where it was asked for, else `text` to stdout.
    ///
    /// @param json maps with String keys, collections, strings, numbers, booleans and null
    void result(Map<String, Object> json, String text);

    /// Runs `action` when the user wants to end early, on another thread; at once if that was already so.
    void onStop(Runnable action);

    boolean isStopped();
}
