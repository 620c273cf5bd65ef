@NullMarked
package io.framecast.gpu;

import org.jspecify.annotations.NullMarked;
