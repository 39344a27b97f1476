import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What Chromium and the browsers made of it are called, in the order of our preference. */
const names = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chrome-headless-shell',
  'microsoft-edge',
];

/** Where macOS keeps them. */
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

/** Full path of a Chromium in the folders of a PATH, else among `others`; null when there is none. */
export function findBrowser(path: string, others: readonly string[] = applications): string | null {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const candidates = [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...others];
  return candidates.find(isExecutable) ?? null;
}
