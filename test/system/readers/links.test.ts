import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findEngine } from '../../engines/missing.ts';
import { openSandboxFixture, type SandboxFixture } from '../../sandbox/fixture.ts';
import { reservedItems } from '../../sandbox/outcomes.ts';
import { type Engines, embedded } from '../../support/engines/engines.ts';
import { root } from '../../support/service/service.ts';
import { findPythonPackages, run } from '../clients/tools.ts';

const packages = [
  // The extension is built for one version.
  'duckdb==1.5.5',
  'duckdb-extension-httpfs==1.5.5',
  'pandas==3.1.1',
  'pyarrow==26.0.1',
  'polars==2.1.0',
  'fsspec==2026.9.0',
  'aiohttp==3.14.5',
];
const python = await findEngine(findPythonPackages('link-readers-1', packages));
const timeoutMs = 240_000;

/** Jobs of the kinds, and of the marketplaces, that reservedItems does not have. */
const otherJobs = [
  {
    name: 'mkta search_items',
    path: '/v1/mkta/search-items/submit',
    request: () => ({ urls: ['https://shopee.sg/search?keyword=lamp%20123'] }),
  },
  {
    name: 'mkta merchant_items',
    path: '/v1/mkta/merchant-items/submit',
    request: () => ({ urls: ['https://shopee.sg/shop/7123'] }),
  },
  {
    name: 'mktb merchant_bulk',
    path: '/v1/mktb/merchant/bulk/submit',
    request: () => ({ items: [{ shopid: '7123' }] }),
  },
];

const bulkName = 'mkta get_pc_bulk';

interface Seen {
  duckdb: [number, number];
  'by extension': number;
  pandas: [number, number];
  polars: number;
  resumed: boolean;
}

describe.skipIf('missing' in python)('converted links', () => {
  let folder: string;
  let fixture: SandboxFixture;
  const rows = new Map<string, number>();
  let seen: Record<string, Seen>;

  /** Submits a file of rows, and returns the id of its job. */
  async function submitRows(): Promise<string> {
    const { deployment, tester } = fixture;
    const form = new FormData();
    const csv = 'region,shop_id,item_id\nsg,7001,20000000123\nsg,7001,20000000124\n';
    form.set('file', new Blob([csv], { type: 'text/csv' }), 'rows.csv');
    const response = await fetch(`${deployment.url}/v1/mkta/get_pc_bulk/submit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tester.key}` },
      body: form,
    });
    const { task_id: taskId } = (await response.json()) as { task_id: number };
    return (await fixture.job(tester, String(taskId))).job_id;
  }

  /**
   * Waits for a job, and returns the link to its first file, and the number of rows of that file.
   */
  async function linkOf(id: string) {
    const { tester } = fixture;
    await fixture.ended(tester, id);
    const { body } = await fixture.call(tester, 'GET', `/v1/jobs/${id}/files`);
    const url: string = body.files[0].records_url;
    const headers = { authorization: `Bearer ${tester.key}` };
    const converted = await fetch(`${url}&format=json`, { headers });
    return { url, count: ((await converted.json()) as unknown[]).length };
  }

  beforeAll(async () => {
    if ('missing' in python) return;
    folder = await mkdtemp(join(tmpdir(), 'gleaner-links-'));
    fixture = await openSandboxFixture(false, (await embedded.open()) as Engines);
    const links: Record<string, { url: string; key: string }> = {};
    for (const job of [...reservedItems, ...otherJobs]) {
      const request = job.request(['123', '900', '124']);
      const { url, count } = await linkOf(await fixture.submit(fixture.tester, job.path, request));
      rows.set(job.name, count);
      links[job.name] = { url, key: fixture.tester.key };
    }
    const bulk = await linkOf(await submitRows());
    rows.set(bulkName, bulk.count);
    links[bulkName] = { url: bulk.url, key: fixture.tester.key };
    const page = await readFile(join(root, 'docs/formats.md'), 'utf8');
    const blockOf = (language: string) => page.split(`\`\`\`${language}\n`)[1]!.split('```')[0]!;
    // The extension is a package here.
    const statements = blockOf('sql').replace('install httpfs; load httpfs;', 'select 1;');
    await writeFile(join(folder, 'recipe.sql'), statements);
    await writeFile(join(folder, 'recipe.py'), blockOf('python'));
    const env = { PYTHONPATH: python.folder, PYTHONDONTWRITEBYTECODE: '1' };
    const find =
      'import glob, sys; print(glob.glob(sys.argv[1] + "/**/httpfs.duckdb_extension", recursive=True)[0])';
    const extension = (
      await run('python3', ['-c', find, python.folder], { cwd: folder, env })
    ).stdout.trim();
    const script = join(root, 'test/system/readers/read_links.py');
    const { stdout } = await run('python3', [script, extension, JSON.stringify(links)], {
      cwd: folder,
      env,
    });
    seen = JSON.parse(stdout) as Record<string, Seen>;
  }, timeoutMs);
  afterAll(async () => {
    await fixture?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  test.each([...reservedItems, ...otherJobs])(
    'of $name are read by the lines of the documentation',
    ({ name }) => {
      const count = rows.get(name)!;
      expect(count).toBeGreaterThan(0);
      expect(seen[name]).toEqual({
        duckdb: [count, count],
        'by extension': count,
        pandas: [count, count],
        polars: count,
        resumed: true,
      });
    },
  );
});
