/**
 * Returns the value that `load` loads once, when it is first needed. `close` closes it if it was
 * loaded.
 */
export function onDemand<Value extends { close(): Promise<void> }>(
  load: () => Promise<Value>,
): (() => Promise<Value>) & { close(): Promise<void> } {
  let loading: Promise<Value> | null = null;
  const get = () => {
    loading ??= load();
    return loading;
  };
  return Object.assign(get, { close: async () => (await loading)?.close() });
}
