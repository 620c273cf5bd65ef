@NullMarked
package io.framecast.engine.node;

import org.jspecify.annotations.NullMarked;
