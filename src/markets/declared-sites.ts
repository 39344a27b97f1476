import type { Log } from '../base/log.ts';
import { readSiteFiles, type SiteFiles, siteStamp } from '../base/site-files.ts';
import { hasHost, parseSites, type SiteDeclaration } from './site-declaration.ts';

/** The sites that operators declare, and the example. The files are read again when they change. */
export interface DeclaredSites {
  /**
   * Uses the declarations of these files from now on; null: only the example. Throws an Error that names the
   * file, line, and column of each problem. `now` returns milliseconds.
   */
  use(files: SiteFiles | null, log?: Pick<Log, 'info' | 'error'>, now?: () => number): void;
  /** Names of all sites. */
  names(): readonly string[];
  /** Returns a site. Without one of that name that accepts the address, compares the files once more. */
  find(name: string, url?: URL): SiteDeclaration | undefined;
  /** Returns the site of an address, or undefined if no site has its host. */
  ofAddress(url: URL): SiteDeclaration | undefined;
}

/** Interval between checks of the files, in milliseconds. */
const checkMs = 1_000;

/** A site that only the sandbox has: no host is named `*.example` (RFC 2606). */
const [example] = parseSites('{"example": "shop.example"}') as [SiteDeclaration];

/** Parses the declarations of all files. Throws an Error with a line for each problem. */
export function parseSiteFiles({ texts }: Pick<SiteFiles, 'texts'>): Map<string, SiteDeclaration> {
  const sites = new Map([[example.name, example]]);
  const problems: string[] = [];
  const from = new Map<string, string>();
  const hosts = new Map<string, string>();
  for (const [file, text] of Object.entries(texts)) {
    try {
      for (const site of parseSites(text)) {
        const other = from.get(site.name);
        if (other !== undefined) problems.push(`${file}: ${site.name} is also declared in ${other}`);
        from.set(site.name, file);
        sites.set(site.name, site);
        for (const host of site.hosts) {
          const owner = hosts.get(host) ?? site.name;
          if (owner !== site.name)
            problems.push(`${file}: ${host} is a host of both ${owner} and ${site.name}`);
          hosts.set(host, owner);
        }
      }
    } catch (error) {
      problems.push(...(error as Error).message.split('\n').map((line) => `${file}: ${line}`));
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return sites;
}

/** Returns the result of a function, or the Error that it throws. */
function attempt<T>(run: () => T): T | Error {
  try {
    return run();
  } catch (error) {
    return error as Error;
  }
}

/** Creates declarations with only the example. */
export function createDeclaredSites(): DeclaredSites {
  let files: SiteFiles | null = null;
  let sites = parseSiteFiles({ texts: {} });
  let stamp = '';
  let checkedAt = 0;
  let log: Pick<Log, 'info' | 'error'> | undefined;
  let now = () => performance.now();

  const reload = (used: SiteFiles) => {
    checkedAt = now();
    const seen = attempt(() => siteStamp(used.path));
    const found = String(seen);
    if (found === stamp) return;
    // Also for refused files, which are read and logged once.
    stamp = found;
    const read = attempt(() => {
      if (seen instanceof Error) throw seen;
      const { texts } = readSiteFiles(used.path);
      return { texts, parsed: parseSiteFiles({ texts }) };
    });
    if (read instanceof Error)
      return log?.error({ path: used.path, error: read.message }, 'site declarations refused');
    sites = read.parsed;
    used.texts = read.texts;
    log?.info({ path: used.path, names: [...sites.keys()] }, 'site declarations read');
  };
  const current = () => {
    if (files !== null && now() - checkedAt >= checkMs) reload(files);
    return sites;
  };
  return {
    use(given, givenLog, clock = () => performance.now()) {
      const parsed = parseSiteFiles(given ?? { texts: {} });
      [files, sites, log, now] = [given, parsed, givenLog, clock];
      // The files may have changed since they were read: the next use compares them.
      [stamp, checkedAt] = ['', now() - checkMs];
    },
    names: () => [...current().keys()],
    find: (name, url) => {
      const isFound = (site: SiteDeclaration | undefined) =>
        site && (url === undefined || hasHost(site, url));
      const found = current().get(name);
      // Another process may have read a change of the files before this one.
      if (!isFound(found) && files !== null) reload(files);
      return isFound(found) ? found : sites.get(name);
    },
    ofAddress: (url) => [...current().values()].find((site) => hasHost(site, url)),
  };
}

/** The sites of this process. Its configuration sets their files once, when it starts. */
export const declaredSites: DeclaredSites = createDeclaredSites();
