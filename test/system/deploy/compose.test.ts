import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { settings } from '../../../src/base/settings.ts';
import { findProgram } from '../../engines/missing.ts';
import { root } from '../../support/service/service.ts';

interface Service {
  image: string;
  build?: unknown;
  profiles?: string[];
  healthcheck?: unknown;
  restart: string;
  read_only?: boolean;
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
}

const folder = join(root, 'deploy');
const text = (name: string) => readFileSync(join(folder, name), 'utf8');
const compose = parse(text('compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
};
const services = Object.entries(compose.services);
const program = findProgram('compose-spec');

describe('deploy/compose.yaml', () => {
  const reason = program === null ? ' [compose-spec is not installed: run deploy/engines.sh]' : '';
  test.skipIf(program === null)(`follows the Compose specification${reason}`, () => {
    const options = ['-no-interpolation', '-format', 'json', 'compose.yaml'];
    const { status, stdout, stderr } = spawnSync(program!, options, {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    expect(Object.keys((JSON.parse(stdout) as typeof compose).services)).toContain('worker');
  });

  test('pins the image of every engine to an exact version', () => {
    const engines = services.filter(([, { build }]) => build === undefined);
    expect(engines.map(([name]) => name)).toEqual(['mongo', 'nats', 's3', 'prometheus', 'grafana']);
    for (const [, { image }] of engines)
      expect(image).toMatch(/^[a-z/]+:v?\d+\.\d+\.\d+(-alpine)?$/);
  });

  test('checks the health of every engine, and starts the service after them', () => {
    for (const [name, { build, healthcheck }] of services)
      if (build === undefined) expect([name, healthcheck]).toEqual([name, expect.any(Object)]);
    for (const name of ['api', 'worker'])
      expect(compose.services[name]!.depends_on).toEqual({
        migrate: { condition: 'service_completed_successfully' },
        mongo: { condition: 'service_healthy' },
        nats: { condition: 'service_healthy' },
        s3: { condition: 'service_healthy' },
      });
  });

  test('runs the service on a read-only root file system, with settings that exist', () => {
    for (const [name, { build, read_only: isReadOnly, environment = {} }] of services) {
      if (build === undefined) continue;
      expect([name, isReadOnly]).toEqual([name, true]);
      for (const setting of Object.keys(environment)) expect(settings).toHaveProperty(setting);
    }
  });

  test('runs MongoDB as a replica set, and the service with its name', () => {
    expect(text('compose.yaml')).toContain('command: [--replSet, rs0, --bind_ip_all]');
    expect(compose.services.api!.environment!.MONGODB_URI).toBe(
      'mongodb://mongo:27017/gleaner?replicaSet=rs0',
    );
  });

  test('starts NATS with a configuration that syncs every message', () => {
    expect(text('compose.yaml')).toMatch(
      /command: \[--config, (\S+)\]\n\s+volumes: \[.*\.\/nats\.conf:\1:ro\]/,
    );
    expect(text('nats.conf')).toMatch(
      /^jetstream \{[^}]*^ {2}store_dir: \/data$[^}]*^ {2}sync_interval: always$/m,
    );
  });
});
