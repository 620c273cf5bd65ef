@NullMarked
package io.framecast.engine.codec;

import org.jspecify.annotations.NullMarked;
