@NullMarked
package io.framecast.api.spi;

import org.jspecify.annotations.NullMarked;
