import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findEngine, findProgram, type MissingEngine } from '../../engines/missing.ts';
import { freePort } from '../../support/servers/ports.ts';
import { createServiceProcess, root, type ServiceProcess } from '../../support/service/service.ts';
import { until } from '../../support/time/until.ts';

const timeoutMs = 120_000;
const operatorKey = 'operator-key-of-the-proxy-suite';
const units = 600;

/** A proxy that the documentation configures, and the ways to start it. */
interface Proxy {
  name: 'nginx' | 'caddy';
  title: string;
  /** Returns the configuration with a block of the documentation that listens on `port`. */
  configuration(block: string, port: number): string;
  arguments(folder: string): string[];
}

const nginx = (title: string, edit: (block: string) => string): Proxy => ({
  name: 'nginx',
  title,
  configuration: (block, port) => `
    daemon off; worker_processes 1; user ${userInfo().username}; pid nginx.pid; error_log error.log;
    events {}
    http {
      access_log off; client_body_temp_path b; proxy_temp_path p;
      fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
      server { listen 127.0.0.1:${port}; ${edit(block)} }
    }`,
  arguments: (folder) => ['-p', folder, '-c', 'proxy.conf'],
});

const proxies: Proxy[] = [
  nginx('nginx as documented', (block) => block),
  nginx('nginx with its default settings, which removes the path', (block) =>
    block.replace(/proxy_pass (.*);[^}]*/, 'proxy_pass $1/;\n'),
  ),
  {
    name: 'caddy',
    title: 'Caddy as documented',
    configuration: (block, port) =>
      `{\n\tadmin off\n\tauto_https off\n}\n${block.replace('shop.example', `http://127.0.0.1:${port}`)}`,
    arguments: (folder) => [
      'run',
      '--config',
      join(folder, 'proxy.conf'),
      '--adapter',
      'caddyfile',
    ],
  },
];

async function findProxy(name: string): Promise<{ program: string } | MissingEngine> {
  const program = findProgram(name);
  return program === null ? { missing: `${name} is missing: bash deploy/engines.sh` } : { program };
}

const programs = {
  nginx: await findEngine(findProxy('nginx')),
  caddy: await findEngine(findProxy('caddy')),
};

/** Returns the block of the documentation for a proxy. */
async function documentedBlock(name: string): Promise<string> {
  const page = await readFile(join(root, 'docs/operate.md'), 'utf8');
  return page.split(`\`\`\`${name}\n`)[1]!.split('```')[0]!;
}

describe.each(proxies)('behind $title', ({ name, configuration, arguments: argumentsOf }) => {
  const found = programs[name];
  if ('missing' in found) return test.skip(found.missing, () => {});
  let folder: string;
  let base: string;
  let service: ServiceProcess;
  let proxy: ChildProcess;
  let key: string;

  const ask = (path: string, init: RequestInit & { as?: string } = {}) =>
    fetch(new URL(path, `${base}/`), {
      redirect: 'manual',
      ...init,
      headers: {
        ...(init.as === undefined ? {} : { authorization: `Bearer ${init.as}` }),
        ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    });
  const post = (path: string, body: unknown, as: string) =>
    ask(path, { method: 'POST', body: JSON.stringify(body), as });
  const operate = async (method: string, body: object) =>
    (await (
      await post(`gleaner.operator.v1.OperatorService/${method}`, body, operatorKey)
    ).json()) as {
      user: { id: string };
      apiKey: string;
    };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-proxy-'));
    const [port, httpPort, grpcPort] = [await freePort(), await freePort(), await freePort()];
    base = `http://127.0.0.1:${port}/gleaner`;
    service = createServiceProcess({
      role: 'serve',
      environment: {
        GLEANER_DATA_DIR: join(folder, 'data'),
        GLEANER_HTTP_PORT: String(httpPort),
        GLEANER_GRPC_PORT: String(grpcPort),
        GLEANER_OPS_PORT: 'off',
        GLEANER_OPERATOR_KEY: operatorKey,
        GLEANER_WORKING_HOURS: 'off',
        GLEANER_PUBLIC_URL: base,
      },
    });
    await service.start();
    const block = (await documentedBlock(name)).replace('127.0.0.1:8080', `127.0.0.1:${httpPort}`);
    await writeFile(join(folder, 'proxy.conf'), configuration(block, port));
    proxy = spawn(found.program, argumentsOf(folder), {
      env: { HOME: folder, PATH: process.env.PATH },
    });
    await until('the proxy responds', async () => (await ask('health')).ok || undefined, {
      withinMs: 30_000,
    });
    const { user } = await operate('CreateUser', { name: 'ann' });
    const { apiKey } = await operate('CreateApiKey', { userId: user.id, name: 'live' });
    const created = await post('v1/account/keys', { name: 'test', mode: 'test' }, apiKey);
    key = ((await created.json()) as { api_key: string }).api_key;
  }, timeoutMs);
  afterAll(async () => {
    proxy?.kill();
    if (proxy?.exitCode === null && proxy.signalCode === null) await once(proxy, 'exit');
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test(
    'jobs, links, and results work, and a truncated result is an error',
    async () => {
      const items = Array.from({ length: units }, (_, at) => ({
        product_id: `17290000${String(at).padStart(5, '0')}`,
        country: 'id',
      }));
      const submitted = await post('v1/mktd/pdp/bulk/submit', { items }, key);
      const location = submitted.headers.get('location')!;
      expect(location).toMatch(/^\/gleaner\/v1\/mktd\//);
      const ended = (await (await ask(`${location}?wait=60`, { as: key })).json()) as Record<
        string,
        string
      >;
      expect(ended.status).toBe('completed');
      const file = await ask(ended.download_url!);
      expect([file.status, file.headers.get('repr-digest')]).toEqual([
        200,
        expect.stringMatching(/^sha-256=/),
      ]);
      expect(Number(file.headers.get('content-length'))).toBe(
        (await file.arrayBuffer()).byteLength,
      );
      const records = `v1/jobs/${ended.job_id}/results`;
      expect((await (await ask(records, { as: key })).text()).trim().split('\n')).toHaveLength(
        units,
      );

      const results = join(folder, 'data/results', ended.job_id!);
      const path = join(results, (await readdir(results))[0]!);
      await truncate(path, (await stat(path)).size - 100);
      const half = await ask(records, { as: key });
      await expect(half.text()).rejects.toThrow();
    },
    timeoutMs,
  );

  test('the console and the API reference load their scripts', async () => {
    const start = await ask(`${base}/`);
    expect(new URL(start.headers.get('location')!, base).href).toBe(`${base}/console`);
    for (const path of ['console', 'console/jobs/1', 'docs']) {
      const page = await (await ask(path)).text();
      const scripts = [...page.matchAll(/ (?:src|href)="([^"]+\.(?:js|css))"/g)].map(
        ([, address]) => address!,
      );
      expect(scripts.length).toBeGreaterThan(0);
      for (const address of scripts)
        expect([address, (await ask(address)).status]).toEqual([address, 200]);
    }
  });
});
