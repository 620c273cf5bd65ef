@NullMarked
package io.framecast.engine.udp;

import org.jspecify.annotations.NullMarked;
