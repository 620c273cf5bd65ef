/// The interfaces that a transport or a device implements: lanes, rings, one-sided endpoints; memory, streams,
/// events. The engine calls all of it. Users of `api` call the device types that a subscriber or publisher hands
/// out ([io.framecast.api.spi.DeviceBackend] and the objects that it opens). Nothing here depends on `api`.
@NullMarked
package io.framecast.api.spi;

import org.jspecify.annotations.NullMarked;
