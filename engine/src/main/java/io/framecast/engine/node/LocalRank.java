package io.framecast.engine.node;

import io.framecast.api.error.ConfigException;
import java.util.List;
import java.util.Map;

/// Which of a host's processes this one is, as its launcher says: `device=auto` takes the GPU of that number, so that
/// the workers of a host share its GPUs.
///
/// @param number 0 where no launcher says
/// @param origin for a notice; empty where no launcher says
record LocalRank(int number, String origin) {
    static final LocalRank NONE = new LocalRank(0, "");

    // torchrun, Slurm, Open MPI.
    private static final List<String> VARIABLES = List.of("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK");

    /// @throws ConfigException when a variable holds no small number
    static LocalRank of(final Map<String, String> environment) {
        for (final String variable : VARIABLES) {
            final String text = environment.getOrDefault(variable, "");
            if (text.isEmpty()) {
                continue;
            }
            if (!text.matches("\\d{1,3}")) {
                throw new ConfigException(variable + ": expected the number of this process on its host, 0 … 999, got "
                        + text + "; or name the device by device=cuda:N");
            }
            return new LocalRank(Integer.parseInt(text), " (" + variable + ")");
        }
        return NONE;
    }
}
