/**
 * Resolves at the first SIGINT or SIGTERM, or when the launcher that started the process has ended. A second signal
 * ends the process immediately.
 */
export function waitForStop(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
    if (process.channel) {
      process.once('disconnect', stop);
      // The channel to the launcher must not keep the process alive.
      process.channel.unref();
    }
  });
}
