import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/service.ts';

const text = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');

test('the compose file starts NATS with a configuration that syncs every message', () => {
  expect(text('compose.yaml')).toMatch(
    /command: \[--config, (\S+)\]\n\s+volumes: \[.*\.\/nats\.conf:\1:ro\]/,
  );
  expect(text('nats.conf')).toMatch(
    /^jetstream \{[^}]*^ {2}store_dir: \/data$[^}]*^ {2}sync_interval: always$/m,
  );
});
