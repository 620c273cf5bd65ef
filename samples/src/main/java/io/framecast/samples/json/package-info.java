/// JSON texts from and to plain values; any package of programs may call it.
@NullMarked
package io.framecast.samples.json;

import org.jspecify.annotations.NullMarked;
