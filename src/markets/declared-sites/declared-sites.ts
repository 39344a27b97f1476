import { ConfigError } from '../../base/config-error.ts';
import type { Log } from '../../base/log.ts';
import { readSiteFiles, type SiteFiles, siteStamp } from '../../base/site-files.ts';
import { hasHost, parseSites, type SiteDeclaration } from './site-declaration.ts';

/** The sites that operators declare, and the example. The files are read again when they change. */
export interface DeclaredSites {
  /**
   * Uses the declarations of these files from now on; null: only the example. Throws a ConfigError
   * with the file, line, and column of each problem. `now` returns milliseconds.
   */
  use(files: SiteFiles | null, log?: Pick<Log, 'info' | 'error'>, now?: () => number): void;
  names(): readonly string[];
  /**
   * Returns a site. Without one of that name that accepts the address, compares the files once
   * more.
   */
  find(name: string, url?: URL): SiteDeclaration | undefined;
  /** Returns the site of an address, or undefined if no site has its host. */
  ofAddress(url: URL): SiteDeclaration | undefined;
}

/** Interval between checks of the files, in milliseconds. */
const checkMs = 1_000;

/** A site that only the sandbox has: no host is named `*.example` (RFC 2606). */
const [example] = parseSites('{"example": "shop.example"}') as [SiteDeclaration];

/** Sites of several files, and the problems of these. */
class SiteCollection {
  readonly sites = new Map([[example.name, example]]);
  readonly problems: string[] = [];
  private readonly filesBySite = new Map<string, string>();
  private readonly sitesByHost = new Map<string, string>();

  addFile(file: string, text: string): void {
    try {
      for (const site of parseSites(text)) this.addSite(file, site);
    } catch (error) {
      for (const line of (error as Error).message.split('\n'))
        this.problems.push(`${file}: ${line}`);
    }
  }

  private addSite(file: string, site: SiteDeclaration): void {
    const { name, hosts } = site;
    const otherFile = this.filesBySite.get(name);
    if (otherFile !== undefined)
      this.problems.push(`${file}: ${name} is also declared in ${otherFile}`);
    this.filesBySite.set(name, file);
    this.sites.set(name, site);
    for (const host of hosts) {
      const owner = this.sitesByHost.get(host) ?? name;
      if (owner !== name)
        this.problems.push(`${file}: ${host} is a host of both ${owner} and ${name}`);
      this.sitesByHost.set(host, owner);
    }
  }
}

/** Parses the declarations of all files. Throws a ConfigError with a line for each problem. */
export function parseSiteFiles({ texts }: Pick<SiteFiles, 'texts'>): Map<string, SiteDeclaration> {
  const collection = new SiteCollection();
  for (const [file, text] of Object.entries(texts)) collection.addFile(file, text);
  const { sites, problems } = collection;
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return sites;
}

/** Creates declarations with only the example. */
export function createDeclaredSites(): DeclaredSites {
  let files: SiteFiles | null = null;
  let sites = parseSiteFiles({ texts: {} });
  let stamp = '';
  let checkedAt = 0;
  let refused = '';
  let log: Pick<Log, 'info' | 'error'> | undefined;
  let now = () => performance.now();

  const reload = ({ path }: SiteFiles) => {
    checkedAt = now();
    try {
      const found = siteStamp(path);
      if (found === stamp) return;
      // Also for refused files, which are read and logged once.
      stamp = found;
      const { texts } = readSiteFiles(path);
      sites = parseSiteFiles({ texts });
      files!.texts = texts;
      log?.info({ path, names: [...sites.keys()] }, 'site declarations read');
    } catch (error) {
      const { message } = error as Error;
      if (message !== refused) log?.error({ path, error: message }, 'site declarations refused');
      refused = message;
    }
  };
  const current = () => {
    if (files !== null && now() - checkedAt >= checkMs) reload(files);
    return sites;
  };
  return {
    use(newFiles, newLog, clock = () => performance.now()) {
      sites = parseSiteFiles(newFiles ?? { texts: {} });
      [files, log, now] = [newFiles, newLog, clock];
      // The files may have changed since they were read: the next use compares them.
      [stamp, checkedAt] = ['', now() - checkMs];
    },
    names: () => [...current().keys()],
    find: (name, url) => {
      const found = current().get(name);
      if (found && (url === undefined || hasHost(found, url))) return found;
      // Another process may have read a change of the files before this one.
      if (files !== null) reload(files);
      return sites.get(name);
    },
    ofAddress: (url) => [...current().values()].find((site) => hasHost(site, url)),
  };
}

/** The sites of this process. Its configuration sets their files once, when it starts. */
export const declaredSites: DeclaredSites = createDeclaredSites();
