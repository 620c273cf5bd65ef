/// `framecast publish`: reads an input and publishes its frames. Only the command line and the demo call it.
@NullMarked
package io.framecast.samples.publish;

import org.jspecify.annotations.NullMarked;
