// In a file of its own, which is imported on demand: src/cli may import the service through src/app
// only.
export { type BrowserInstallOptions, installBrowser } from '../fetch/browser/install.ts';
