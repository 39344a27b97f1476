/**
 * Resolves at the first SIGINT or SIGTERM, or when the launcher that started us is gone. A second
 * signal ends the process at once.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
    if (process.channel) {
      process.once('disconnect', stop);
      // Listening for the launcher's end must not keep us alive.
      process.channel.unref();
    }
  });
}
