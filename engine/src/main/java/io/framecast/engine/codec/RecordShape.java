package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.framecast.api.error.ConfigException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import org.jspecify.annotations.Nullable;

/// A registered record: its components in order of declaration. Made in two steps, since records may name each
/// other.
final class RecordShape extends Serializer<Object> {
    private final Class<?> type;
    private final RecordComponent[] components;
    private final Method[] accessors;
    private final Shape[] shapes;
    private final Constructor<?> constructor;

    RecordShape(final Class<? extends Record> type) {
        super(false, true);
        this.type = type;
        components = type.getRecordComponents();
        accessors = new Method[components.length];
        shapes = new Shape[components.length];
        final Class<?>[] parameters = new Class<?>[components.length];
        try {
            for (int i = 0; i < components.length; i++) {
                parameters[i] = components[i].getType();
                accessors[i] = components[i].getAccessor();
                accessors[i].setAccessible(true);
            }
            constructor = type.getDeclaredConstructor(parameters);
            constructor.setAccessible(true);
        } catch (final NoSuchMethodException | InaccessibleObjectException e) {
            throw new ConfigException(
                    "codec: record " + type.getName() + " cannot be made: open its package to the engine", e);
        }
    }

    /// @throws ConfigException naming record and component
    void link(final ShapeFactory factory) {
        for (int i = 0; i < components.length; i++) {
            try {
                shapes[i] = factory.shapeOf(components[i].getGenericType());
            } catch (final IllegalArgumentException e) {
                throw new ConfigException(
                        "codec: record " + type.getName() + ", component " + components[i].getName() + ": "
                                + e.getMessage(),
                        e);
            }
        }
    }

    @Override
    public void write(final Kryo kryo, final Output output, final Object value) {
        for (int i = 0; i < shapes.length; i++) {
            final Object component;
            try {
                component = accessors[i].invoke(value);
            } catch (final IllegalAccessException e) {
                throw new IllegalStateException("made accessible in the constructor: " + accessors[i], e);
            } catch (final InvocationTargetException e) {
                throw new KryoException("accessor " + accessors[i].getName() + " threw " + e.getCause(), e);
            }
            shapes[i].write(kryo, output, component);
        }
    }

    @Override
    public Object read(final Kryo kryo, final Input input, final Class<?> ignored) {
        final @Nullable Object[] values = new Object[shapes.length];
        for (int i = 0; i < shapes.length; i++) {
            values[i] = shapes[i].read(kryo, input);
        }
        try {
            return constructor.newInstance(values);
        } catch (final InstantiationException | IllegalAccessException e) {
            throw new IllegalStateException("made accessible in the constructor: " + constructor, e);
        } catch (final InvocationTargetException e) {
            throw new KryoException("the constructor of " + type.getName() + " threw " + e.getCause(), e);
        }
    }

    /// The record as a component or element: a presence byte, then the components, one level deeper.
    Shape nested() {
        return Shape.nullable(Shape.of(
                (kryo, output, value) -> kryo.writeObject(output, value, this),
                (kryo, input) -> kryo.readObject(input, type, this)));
    }
}
