import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import packageFiles from '../../../deploy/package-files.json' with { type: 'json' };
import { root } from '../../support/service/service.ts';

const text = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
const file = DockerfileParser.parse(text);
const stages = file.getFROMs();
/** Returns the instructions of a stage by keyword, in their order. */
function stepsOf(name: string): string[][] {
  const start = stages.find((from) => from.getBuildStage() === name)!.getRange().start.line;
  const next = stages.map((from) => from.getRange().start.line).find((line) => line > start);
  return file
    .getInstructions()
    .filter(
      (step) =>
        step.getRange().start.line > start && step.getRange().start.line < (next ?? Infinity),
    )
    .map((step) => [step.getKeyword(), step.getArgumentsContent() ?? '']);
}

test('deploy/Dockerfile has no problem', () => {
  expect(validate(text)).toEqual([]);
});

test('the image uses the Node of the checkout', () => {
  const images = stages.map((from) => from.getImage());
  expect(images.filter((image) => image !== 'service')).toEqual(
    Array.from({ length: 3 }, () => `node:${packageFiles.node.version}-bookworm-slim`),
  );
});

test.each(['service', 'service-chromium'])('%s runs as a numeric user and not as root', (name) => {
  const users = stepsOf(name).filter(([keyword]) => keyword === 'USER');
  expect(users.at(-1)).toEqual(['USER', '10001:10001']);
});

test('the image checks its health without curl, and starts the compiled program', () => {
  const steps = stepsOf('service');
  const healthcheck = steps.find(([keyword]) => keyword === 'HEALTHCHECK')![1]!;
  expect(JSON.parse(healthcheck.slice(healthcheck.indexOf('['))).slice(0, 2)).toEqual([
    'node',
    '-e',
  ]);
  expect(steps).toContainEqual(['ENTRYPOINT', '["node", "dist/main.js"]']);
});

test('.dockerignore allows every file of the project that is copied', () => {
  const allowed = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  const copied = file
    .getCOPYs()
    .filter((copy) => copy.getFlags().length === 0)
    .flatMap((copy) => copy.getArguments().slice(0, -1))
    .map((argument) => argument.getValue());
  expect(copied).toContain('src');
  expect(copied.filter((name) => !allowed.includes(`!${name}`))).toEqual([]);
});
