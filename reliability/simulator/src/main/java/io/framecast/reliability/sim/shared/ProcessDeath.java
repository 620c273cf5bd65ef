package io.framecast.reliability.sim.shared;

/// The process dies at this point of its program, between two stores to shared memory.
public final class ProcessDeath extends RuntimeException {
    private static final long serialVersionUID = 1;

    public ProcessDeath() {
        super("the process dies here", null, false, false);
    }
}
