import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Place, startPlace } from '../../docs/place.ts';
import { findEngine, findProgram } from '../../engines/missing.ts';
import { runCommand } from '../../support/service/command.ts';
import { findPythonPackages, run } from '../clients/tools.ts';

const version = '1.8.1';
const tool = await findEngine(findPythonPackages(`warcio-${version}`, [`warcio==${version}`]));

describe.skipIf('missing' in tool)('warcio, a library for WARC files', () => {
  let place: Place;
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    place = await startPlace();
    folder = await mkdtemp(join(tmpdir(), 'gleaner-warc-'));
    const { URL: url, KEY: key, OPERATOR_KEY: operatorKey } = await place.variables();
    env = { GLEANER_URL: url!, GLEANER_API_KEY: key!, GLEANER_OPERATOR_KEY: operatorKey! };
  });
  afterAll(async () => {
    await place?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const warcio = async (...parameters: string[]) => {
    const python = findProgram('python3')!;
    const PYTHONPATH = 'folder' in tool ? tool.folder : '';
    return run(python, ['-m', 'warcio.cli', ...parameters], { cwd: folder, env: { PYTHONPATH } });
  };
  const gleaner = async (...parameters: string[]) => {
    const { code, stdout, stderr } = await runCommand(parameters, env, { folder });
    expect(code, stderr).toBe(0);
    return stdout.trim();
  };

  /** Two batches, with ten units of the first in the second. */
  const repeated = Array.from({ length: 60 }, (_, at) => `17290000001${10 + (at % 50)},th\n`).join(
    '',
  );

  test.each([
    ['mktd', `product_id,country\n${repeated}`, 'GET'],
    ['mktd', 'product_id,country\n1729000000001,th\n1729000000002,th\n', 'GET'],
    ['mktb', 'shop_domain,product_key\ntoko-7,barang-1001\ntoko-7,barang-1002\n', 'POST'],
  ])(
    'reads the kept pages of a job of %s, and finds no wrong digest',
    async (market, rows, method) => {
      await writeFile(join(folder, 'items.csv'), rows);
      const submit = [
        'job',
        'submit',
        market,
        'pdp_bulk',
        'items.csv',
        '--keep-pages',
        '1d',
        '--wait',
      ];
      const job = await gleaner(...submit);
      await gleaner('job', 'pages', job, '-o', 'pages.warc.gz');
      const checked = (await warcio('check', '-v', 'pages.warc.gz')).stdout;
      const fields = 'warc-type,warc-target-uri,http:status,warc-payload-digest';
      const { stdout } = await warcio('index', 'pages.warc.gz', '-f', fields);
      const records = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(records[0]).toEqual({ 'warc-type': 'warcinfo' });
      const ofType = (type: string) => records.filter((record) => record['warc-type'] === type);
      expect(ofType('response').length).toBeGreaterThan(1);
      expect(checked.match(/digest pass/g)).toHaveLength(ofType('response').length);
      for (const record of ofType('response')) expect(record['http:status']).toBe('200');
      expect(ofType('request')).toHaveLength(method === 'POST' ? ofType('response').length : 0);
    },
  );
});
