/// The `aeron` transport: it works wherever Java does, on a media driver inside the process. The node finds it
/// as a [io.framecast.api.provider.TransportProvider]; nothing else calls it, and nothing else names Aeron.
@NullMarked
package io.framecast.engine.aeron;

import org.jspecify.annotations.NullMarked;
