@NullMarked
package io.framecast.engine;

import org.jspecify.annotations.NullMarked;
