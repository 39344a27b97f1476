// Separate so that it is imported on demand: src/cli may import the service through src/app only.
export { type BrowserInstallOptions, installBrowser } from '../fetch/browser/install.ts';
