/// The GPU kit: runs tests, benches and the demo on a machine with a GPU, each as a process, and gathers their
/// results in one table and one file.
///
/// [KitMain] reads [KitOptions] and asks for the [KitDevice]; [KitPlan] runs each [KitCommand] and adds its
/// [KitStep] to [KitResults]. Only the kit's own script calls this package, by [KitMain].
@NullMarked
package io.framecast.perf.kit;

import org.jspecify.annotations.NullMarked;
