import { type Config, ConfigError } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { declaredSites } from '../markets/declared-sites.ts';

/** Puts the declared sites in force. Throws a ConfigError with the file, line, and column of each problem. */
export function useSites(
  { siteFiles }: Pick<Config, 'siteFiles'>,
  log?: Log,
  label = 'GLEANER_SITES: ',
): void {
  try {
    declaredSites.use(siteFiles, log);
  } catch (error) {
    throw new ConfigError((error as Error).message.replaceAll(/^/gm, label));
  }
}
