/// The one binding of the C library: its calls ([Libc]), and the numbers and layouts of Linux that they take
/// ([Linux]). The packages of the engine call it, and so do programs that measure or disturb them. The package
/// depends on the JDK alone.
@NullMarked
package io.framecast.engine.libc;

import org.jspecify.annotations.NullMarked;
