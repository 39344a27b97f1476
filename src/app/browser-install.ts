export { type BrowserInstallOptions, installBrowser } from '../fetch/browser/install.ts';
