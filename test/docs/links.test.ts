import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/base/config.ts';
import { diagnoseSetup } from '../../src/base/setup-checks.ts';
import { root } from '../support/service/service.ts';

const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n');

/** Returns the anchors of a page's headings. */
function headings(path: string): string[] {
  const lines = readFileSync(path, 'utf8').match(/^#+ .*$/gm) ?? [];
  return lines.map((line) =>
    line
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns the broken links of a page. */
function broken(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/```[\s\S]*?```/g, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const path = file === '' ? join(root, page) : join(root, dirname(page), file);
    return !existsSync(path) || (anchor !== undefined && !headings(path).includes(anchor));
  });
}

test.each(pages)('%s has no broken links', (page) => {
  expect(broken(page)).toEqual([]);
});

test('diagnoseSetup() refers to existing sections', () => {
  const guides = diagnoseSetup(loadConfig({})).map(({ guide }) => guide);
  expect(guides).toHaveLength(4);
  for (const guide of guides) {
    const [page, anchor] = guide!.split('#');
    expect(headings(join(root, `docs/${page}.md`))).toContain(anchor);
  }
});
