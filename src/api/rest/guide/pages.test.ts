import { describe, expect, test } from 'vitest';
import { guidePages, renderPage } from './pages.ts';

const render = (markdown: string, name = 'jobs') => renderPage(name, '/g/docs/guide', markdown);

describe('renderPage()', () => {
  test('links to other pages and sections, and to no file of the checkout', () => {
    const { html } = render(
      '[a](formats.md#csv) [b](kinds/variant-sold.md) [c](../LICENSE) [d](README.md) [e](#x)',
    );
    expect(html).toContain('<a href="/g/docs/guide/formats#csv">a</a>');
    expect(html).toContain('<a href="/g/docs/guide/kinds/variant-sold">b</a> c ');
    expect(html).toContain('<a href="/g/docs/guide">d</a> <a href="#x">e</a>');
    expect(render('[a](../jobs.md)', 'kinds/variant-sold').html).toContain(
      'href="/g/docs/guide/jobs"',
    );
    expect(render('![A job](console/job.png)').html).toContain(
      'src="/g/docs/guide/console/job.png"',
    );
  });

  test('gives headings the ids that they have on GitHub, and lists the sections', () => {
    const { html, title, sections } = render(
      '# Jobs\nAll of them.\n\n## List `jobs`\nBy time.\n\n## List jobs\n',
    );
    expect(title).toBe('Jobs');
    expect(html).toContain('<h2 id="list-jobs">List <code>jobs</code></h2>');
    expect(html).toContain('<h2 id="list-jobs-1">');
    expect(sections).toMatchObject([
      { title: 'Jobs', anchor: '', text: 'All of them.' },
      { title: 'List jobs', anchor: 'list-jobs', text: 'By time.' },
      { title: 'List jobs', anchor: 'list-jobs-1', text: '' },
    ]);
  });

  test('renders every page, and all links between pages lead to a heading', () => {
    const pages = new Map([...guidePages].map((name) => [name, renderPage(name, '')]));
    for (const [name, { html }] of pages)
      for (const [, target, anchor] of html.matchAll(/<a href="\/([\w/-]+)#([^"]+)"/g))
        expect(pages.get(target!)?.html, `${name}: ${target}#${anchor}`).toContain(
          ` id="${anchor}"`,
        );
  });
});
