import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Program names of Chromium-based browsers, in order of preference. */
const names = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chrome-headless-shell',
  'microsoft-edge',
];

/** Install locations on macOS. */
const applications = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the full path of a Chromium-based browser in the folders of `path` (a PATH value) or
 * among `others`, or null if none is found.
 */
export function findBrowser(
  path: string,
  fallbackPaths: readonly string[] = applications,
): string | null {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const candidates = [
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...fallbackPaths,
  ];
  return candidates.find(isExecutable) ?? null;
}

/** Returns the folder below the data folder that `gleaner browser install` downloads to. */
export const browserFolder = (dataDir: string): string => join(dataDir, 'browser');

/** Returns the file with the path of the installed browser, relative to its folder. */
export const browserNote = (dataDir: string): string => join(browserFolder(dataDir), 'path');

/**
 * Returns the path of the browser that `gleaner browser install` downloaded, or null if there is
 * none.
 */
export function findInstalledBrowser(dataDir: string): string | null {
  try {
    const path = join(browserFolder(dataDir), readFileSync(browserNote(dataDir), 'utf8'));
    return isExecutable(path) ? path : null;
  } catch {
    return null;
  }
}
