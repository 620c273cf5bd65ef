@NullMarked
package io.framecast.api;

import org.jspecify.annotations.NullMarked;
