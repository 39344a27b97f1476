import { type Config, ConfigError } from '../base/config.ts';
import { browserUrlsOf } from '../base/origins.ts';
import type { DeclaredSites } from '../markets/declared-sites/declared-sites.ts';

const explanation = 'a browser that runs elsewhere makes its own connections';

/**
 * Throws a ConfigError if browsers that run elsewhere would load pages whose connections Gleaner has to
 * check or to send through a proxy: of marketplaces and declared shops without an address in the origins
 * file.
 */
export function assertRemoteBrowsers(
  config: Pick<Config, 'origins' | 'browserUrls'>,
  sites: Pick<DeclaredSites, 'names' | 'find'>,
): void {
  const { origins } = config;
  const isRemote = (market: string) => browserUrlsOf(config, market).length > 0;
  const problems: string[] = [];
  for (const [market, { fetch, addresses, proxy }] of origins) {
    if (fetch !== 'browser' || !isRemote(market)) continue;
    if (addresses.size === 0)
      problems.push(
        `${market} has no address: ${explanation}, so it reads only addresses of the origins file`,
      );
    if (proxy !== undefined)
      problems.push(`${market}.proxy: ${explanation}: remove "proxy", and start that browser with one`);
  }
  const mapped = origins.get('sites');
  for (const name of isRemote('sites') ? sites.names() : [])
    if ((mapped?.fetch ?? sites.find(name)?.policy.fetch) === 'browser' && !mapped?.addresses.has(name))
      problems.push(
        `the site ${name} uses a browser: ${explanation}, so it reads only shops with an address in the origins file`,
      );
  if (problems.length > 0) throw new ConfigError(`GLEANER_BROWSER_URL: ${problems.join('\n')}`);
}
