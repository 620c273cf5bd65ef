package io.framecast.api;

/// Takes reports of sources that come and go.
@FunctionalInterface
public interface SourceHandler {
    void onSource(SourceEvent event);
}
