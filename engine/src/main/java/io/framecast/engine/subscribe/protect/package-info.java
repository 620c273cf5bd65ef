/// The protection of a subscription (`auth=`), and the terms on which it joins a source. A stream without `auth=`
/// has an object that does the plain thing. `engine.subscribe` calls it.
@NullMarked
package io.framecast.engine.subscribe.protect;

import org.jspecify.annotations.NullMarked;
