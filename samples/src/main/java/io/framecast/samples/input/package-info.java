/// Where a publisher's frames come from: the test pattern, files, pipes and ffmpeg, cut into frames. Only the
/// commands `publish`, `subscribe` and `demo` call it.
@NullMarked
package io.framecast.samples.input;

import org.jspecify.annotations.NullMarked;
