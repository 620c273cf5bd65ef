/// Descriptions of a stream's frames: element type and shape, picture, samples, frame rate. A [FrameFormat] is sent
/// once and
/// numbered, so a frame carries four bits of it.
@NullMarked
package io.framecast.api.format;

import org.jspecify.annotations.NullMarked;
