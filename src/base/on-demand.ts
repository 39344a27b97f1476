/** A value that is loaded when it is first needed. */
interface LoadedValue<Value> {
  /** Returns the value. Loads it again if the last load failed. */
  get(): Promise<Value>;
  /** Returns the load of the value. Null if it was not needed, or if the last load failed. */
  loading(): Promise<Value> | null;
}

function loadedValue<Value>(load: () => Promise<Value>): LoadedValue<Value> {
  let loading: Promise<Value> | null = null;
  return {
    get: () => {
      loading ??= load().catch((error: unknown) => {
        loading = null;
        throw error;
      });
      return loading;
    },
    loading: () => loading,
  };
}

/**
 * Returns a function that returns the value that `load` loads once, when it is first needed. A load
 * that fails is repeated by the next call.
 */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  return loadedValue(load).get;
}

/** Returns a function as loadOnce() does. `close` closes the value if it was loaded. */
export function onDemand<Value extends { close(): Promise<void> }>(
  load: () => Promise<Value>,
): (() => Promise<Value>) & { close(): Promise<void> } {
  const { get, loading } = loadedValue(load);
  const close = async () => {
    const value = await loading()?.catch(() => null);
    await value?.close();
  };
  return Object.assign(get, { close });
}
