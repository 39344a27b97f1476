import { describe, expect, test } from 'vitest';
import { random } from '../../sandbox/random.ts';
import { formatCommand, parseOptions } from './options.ts';
import { planFaults } from './plan.ts';

describe('planFaults()', () => {
  const options = { kills: 8, freezeMs: 20_000, processes: 3, links: true };

  test('draws the same faults for the same seed', () => {
    expect(planFaults(random('7'), options)).toEqual(planFaults(random('7'), options));
    expect(planFaults(random('7'), options)).not.toEqual(planFaults(random('8'), options));
  });

  test('restarts both engines and draws every other kind on the distributed stack', () => {
    const faults = planFaults(random('7'), options);
    const kinds = Object.groupBy(faults, ({ kind }) => kind);
    expect(kinds.kill).toHaveLength(8);
    expect(kinds.freeze).toHaveLength(2);
    expect(kinds.delay).toHaveLength(2);
    expect(kinds.restart?.map((fault) => fault.kind === 'restart' && fault.engine).sort()).toEqual([
      'mongo',
      'nats',
    ]);
    expect([...(kinds.cut ?? []), ...(kinds.silence ?? [])]).toHaveLength(2);
  });

  test('kills and freezes every process before it affects one again', () => {
    const faults = planFaults(random('7'), {
      kills: 6,
      freezes: 6,
      freezeMs: 1,
      processes: 6,
      links: false,
    });
    const targetsOf = (kind: string) =>
      faults
        .flatMap((fault) => (fault.kind === kind && 'target' in fault ? [fault.target] : []))
        .sort();
    expect([targetsOf('kill'), targetsOf('freeze')]).toEqual([
      [0, 1, 2, 3, 4, 5],
      [0, 1, 2, 3, 4, 5],
    ]);
  });

  test('only kills and freezes the process of the embedded stack', () => {
    const faults = planFaults(random('7'), { ...options, processes: 1, links: false });
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(['kill', 'freeze']));
    expect(faults.every((fault) => 'target' in fault && fault.target === 0)).toBe(true);
  });
});

describe('parseOptions()', () => {
  test('reads the command that formatCommand() prints', () => {
    const options = parseOptions([
      '--jobs',
      '3',
      '--items',
      '40',
      '--kills',
      '2',
      '--seed',
      's1',
      '--stack',
      'embedded',
    ]);
    expect(options).toMatchObject({
      jobs: 3,
      items: 40,
      kills: 2,
      seed: 's1',
      stacks: ['embedded'],
    });
    const [, , , , ...parameters] = formatCommand(options, 'embedded').split(' ');
    expect(parseOptions(parameters)).toEqual(options);
  });

  test.each([
    [['--jobs', 'many'], '--jobs: "many" is not an integer from 1 to 10000'],
    [['--items', '2001'], '--items: "2001" is not an integer from 1 to 2000'],
    [['--stack', 'all'], '--stack: "all" is not one of embedded, distributed, both, cluster'],
  ])('rejects %j', (parameters, message) => {
    expect(() => parseOptions(parameters)).toThrow(message);
  });
});
