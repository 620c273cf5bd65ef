/// Typed metadata of applications, by Kryo with serializers of our own that hostile bytes cannot harm. The node
/// hands out [KryoCodec]; nothing else calls it, and nothing else names Kryo.
@NullMarked
package io.framecast.engine.codec;

import org.jspecify.annotations.NullMarked;
