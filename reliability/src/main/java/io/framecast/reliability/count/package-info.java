/// The numbers about a process that its operators see: names, units and sentences, and which count of a machine
/// is which of them. Enums of counts name themselves by it; the engine exports what they name.
@NullMarked
package io.framecast.reliability.count;

import org.jspecify.annotations.NullMarked;
