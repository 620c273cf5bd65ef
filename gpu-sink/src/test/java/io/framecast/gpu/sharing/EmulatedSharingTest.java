package io.framecast.gpu.sharing;

import java.util.List;

class EmulatedSharingTest extends DeviceSharingContract {
    @Override
    List<String> device() {
        return List.of("emulated", "0");
    }
}
