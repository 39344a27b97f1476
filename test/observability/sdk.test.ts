import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../support/servers/ports.ts';
import { root, run } from '../support/service/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'gleaner-sdk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts and stops the service, and returns the packages of OpenTelemetry that it loaded. */
async function loadedPackages(settings: Record<string, string>): Promise<string[]> {
  const url = (path: string) => JSON.stringify(pathToFileURL(join(root, path)).href);
  const program = `
    import { createRequire } from 'node:module';
    const { loadConfig } = await import(${url('src/base/config.ts')});
    const { serve } = await import(${url('src/app/serve.ts')});
    const service = await serve(loadConfig(process.env), 'serve', { say: () => {} });
    await service.stop();
    const paths = Object.keys(createRequire(import.meta.url).cache);
    const names = paths.flatMap((path) => /@opentelemetry\\/([^/]+)/.exec(path)?.slice(1) ?? []);
    console.log(JSON.stringify([...new Set(names)]));
    process.exit(0);`;
  const result = await run(process.execPath, ['--input-type=module', '--eval', program], {
    GLEANER_DATA_DIR: join(folder, 'data'),
    GLEANER_HTTP_PORT: '0',
    GLEANER_GRPC_PORT: '0',
    GLEANER_OPS_PORT: 'off',
    GLEANER_WORKERS: '0',
    GLEANER_LOG_LEVEL: 'silent',
    ...settings,
  });
  expect(result).toMatchObject({ code: 0 });
  return JSON.parse(result.stdout) as string[];
}

test('the SDK is loaded only if OTEL_* variables configure it, and not by an operations port alone', async () => {
  expect(await loadedPackages({})).toEqual(['api']);
  expect(await loadedPackages({ GLEANER_OPS_PORT: '0' })).toEqual(['api']);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` };
  const disabled = await loadedPackages({ ...endpoint, OTEL_SDK_DISABLED: 'true' });
  expect(disabled).toEqual(['api']);
  const traced = await loadedPackages({ ...endpoint, OTEL_METRICS_EXPORTER: 'none' });
  expect(traced).toContain('sdk-trace-base');
  expect(traced).not.toContain('exporter-prometheus');
  const pushed = await loadedPackages({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' });
  expect(pushed).toContain('exporter-prometheus');
});
