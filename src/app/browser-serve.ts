// In a file of its own, which is imported on demand: it loads the driver of the browser.
import { systemClock } from '../base/clock.ts';
import { type Config, ConfigError } from '../base/config.ts';
import { createLog } from '../base/log.ts';
import { type ServedBrowser, serveBrowser } from '../fetch/browser/serve.ts';

/**
 * Runs the browser of this machine for workers elsewhere. Throws a ConfigError if there is none.
 */
export async function startServedBrowser(
  config: Config,
  { host, port }: { host: string; port: number },
): Promise<ServedBrowser> {
  const { browser: path, limits, logLevel } = config;
  if (path === null)
    throw new ConfigError(
      'No browser was found: install Chromium, or set GLEANER_BROWSER to its path.',
    );
  const log = createLog(logLevel, 'browser');
  return serveBrowser({
    path,
    host,
    port,
    memoryBytes: limits.browserMemoryBytes,
    clock: systemClock,
    log,
  });
}
