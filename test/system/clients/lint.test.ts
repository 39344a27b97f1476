import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '../../../gateway/fixture/gateway.ts';
import { startTestApi } from '../../../src/api/rest/fixture.ts';
import { services } from '../../../src/contract/services.ts';
import { root } from '../../support/service/service.ts';
import { run } from './tools.ts';

let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  const forUsers = services.filter(({ name }) => name !== 'OperatorService');
  gateway = await startTestApi({ services: forUsers });
  folder = await mkdtemp(join(tmpdir(), 'gleaner-lint-'));
});
afterAll(async () => {
  await gateway?.close(0);
  await rm(folder, { recursive: true, force: true });
});

test.each(['openapi.json', 'openapi-short.json', 'openapi-operator.json'])(
  '/%s has no problem under the rules of .redocly.yaml',
  async (name) => {
    const path = join(folder, name);
    await writeFile(path, await (await gateway.ask(`/${name}`, { key: null })).text());
    const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
    const parameters = ['lint', path, '--config', join(root, '.redocly.yaml'), '--format', 'json'];
    const { stdout } = await run(join(root, 'node_modules/.bin/redocly'), parameters, {
      cwd: root,
      env,
    });
    expect(JSON.parse(stdout).problems).toEqual([]);
  },
);
