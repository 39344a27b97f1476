import { type Config, ConfigError } from '../base/config.ts';
import { browserUrlsOf, type MarketOrigins } from '../base/origins.ts';
import type { DeclaredSites } from '../markets/declared-sites/declared-sites.ts';

const explanation = 'a browser that runs elsewhere makes its own connections';

/**
 * Throws a ConfigError if browsers that run elsewhere would load pages whose connections Gleaner
 * has to check or to send through a proxy: of marketplaces and declared shops without an address in
 * the origins file.
 */
export function assertRemoteBrowsers(
  config: Pick<Config, 'origins' | 'browserUrls'>,
  sites: Pick<DeclaredSites, 'names' | 'find'>,
): void {
  const isRemote = (market: string) => browserUrlsOf(config, market).length > 0;
  const problems = Array.from(config.origins, ([market, settings]) =>
    settings.fetch === 'browser' && isRemote(market) ? problemsOfMarket(market, settings) : [],
  ).flat();
  if (isRemote('sites')) problems.push(...problemsOfSites(config.origins.get('sites'), sites));
  if (problems.length > 0) throw new ConfigError(`GLEANER_BROWSER_URL: ${problems.join('\n')}`);
}

function problemsOfMarket(market: string, { addresses, proxy }: MarketOrigins): string[] {
  const problems: string[] = [];
  if (addresses.size === 0)
    problems.push(
      `${market} has no address: ${explanation}, so it reads only addresses of the origins file`,
    );
  if (proxy !== undefined)
    problems.push(
      `${market}.proxy: ${explanation}: remove "proxy", and start that browser with one`,
    );
  return problems;
}

/** Returns a problem for each declared shop that a browser reads and that has no address. */
function problemsOfSites(
  settings: MarketOrigins | undefined,
  sites: Pick<DeclaredSites, 'names' | 'find'>,
): string[] {
  const usesBrowser = (name: string) =>
    (settings?.fetch ?? sites.find(name)?.policy.fetch) === 'browser';
  return sites
    .names()
    .filter((name) => usesBrowser(name) && !settings?.addresses.has(name))
    .map(
      (name) =>
        `the site ${name} uses a browser: ${explanation}, ` +
        'so it reads only shops with an address in the origins file',
    );
}
