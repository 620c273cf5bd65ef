/// Host memory: the `host` device, rings that are mapped twice ([MirroredMemory]), and how much memory the
/// system has left ([SystemMemory]). The rest of the engine calls it.
@NullMarked
package io.framecast.engine.memory;

import org.jspecify.annotations.NullMarked;
