package io.framecast.samples;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/// The version that Maven wrote into the jar.
public final class ToolVersion implements IVersionProvider {
    private static final String RESOURCE = "/META-INF/maven/io.framecast/framecast-samples/pom.properties";

    @Override
    public String[] getVersion() throws IOException {
        final Properties properties = new Properties();
        try (InputStream stream = ToolVersion.class.getResourceAsStream(RESOURCE)) {
            if (stream != null) {
                properties.load(stream);
            }
        }
        return new String[] {"framecast " + properties.getProperty("version", "(development build)")};
    }
}
