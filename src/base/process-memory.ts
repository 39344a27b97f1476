import { readFileSync } from 'node:fs';

/**
 * Returns the resident memory of this process without the pages of files, in bytes. A service and
 * its worker processes run the same program, whose pages are in memory once: about 60 MB that each
 * process counts as resident. All resident memory where the system does not tell them apart.
 */
export function anonymousMemoryBytes(): number {
  try {
    const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))!;
    return Number(kilobytes) * 1024;
  } catch {
    return process.memoryUsage.rss();
  }
}
