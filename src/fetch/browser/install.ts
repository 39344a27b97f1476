import { writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { Browser, detectBrowserPlatform, install } from '@puppeteer/browsers';
import { PUPPETEER_REVISIONS } from 'puppeteer-core/internal/revisions.js';
import { browserFolder, browserNote } from '../../base/browser-path.ts';
import { openPrivateFolder } from '../../base/data-dir.ts';
import { Fault } from '../../contract/fault.ts';

/** Options of installBrowser(). */
export interface BrowserInstallOptions {
  dataDir: string;
  /** Base address of a mirror. Default: Chrome for Testing. */
  from?: string;
  /** Installs the system packages that the browser needs, with apt-get as root. Default: false. */
  withDeps?: boolean;
}

export interface InstalledBrowser {
  version: string;
  path: string;
}

/**
 * Downloads the version of Chrome for Testing that the driver was tested with to the data folder,
 * where every later start finds it. An installed version is not downloaded again. Throws
 * `unavailable` if that fails.
 */
export async function installBrowser(options: BrowserInstallOptions): Promise<InstalledBrowser> {
  const { dataDir, from, withDeps = false } = options;
  const platform = detectBrowserPlatform();
  if (platform === undefined)
    throw new Fault(
      'unavailable',
      `Chrome for Testing has no build for ${process.platform} on ${process.arch}. ` +
        'Install a browser, and set GLEANER_BROWSER to its path.',
    );
  const version = PUPPETEER_REVISIONS.chrome;
  openPrivateFolder(dataDir);
  const folder = browserFolder(dataDir);
  try {
    const { executablePath } = await install({
      cacheDir: folder,
      browser: Browser.CHROME,
      buildId: version,
      platform,
      installDeps: withDeps,
      ...(from === undefined ? {} : { baseUrl: from.replace(/\/+$/, '') }),
    });
    await writeFile(browserNote(dataDir), relative(folder, executablePath));
    return { version, path: executablePath };
  } catch (error) {
    throw new Fault(
      'unavailable',
      `Chrome ${version} could not be installed: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
