import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test, vi } from 'vitest';
import { isAudited } from '../../../src/api/services/audit-log.ts';
import { services } from '../../../src/contract/services.ts';
import { actions, emptySearch, filterOf } from './search.ts';

afterEach(() => vi.stubEnv('TZ', undefined));

test('every action that the audit log has can be selected', () => {
  const names = new Set(actions.flatMap(({ items }) => items.map(({ value }) => value)));
  const audited = services
    .flatMap(({ methods }) => methods)
    .filter((method) => isAudited(method, { role: 'operator' }))
    .map(({ name }) => name);
  expect(audited.filter((name) => !names.has(name))).toEqual([]);
});

test.each([
  ['2030-01-31', '2030-01-31', '2030-01-30T23:00:00.000Z', '2030-01-31T23:00:00.000Z'],
  ['2030-03-31', '2030-03-31', '2030-03-30T23:00:00.000Z', '2030-03-31T22:00:00.000Z'],
  ['2030-10-27', '2030-10-27', '2030-10-26T22:00:00.000Z', '2030-10-27T23:00:00.000Z'],
])('filterOf() selects whole local days from %s to %s', (since, until, start, end) => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  const filter = filterOf({ ...emptySearch, since, until });
  expect(timestampDate(filter.since!).toISOString()).toBe(start);
  expect(timestampDate(filter.until!).toISOString()).toBe(end);
});

test('filterOf() ignores a text that is no day', () => {
  const { since: _, until: __, ...names } = emptySearch;
  expect(filterOf({ ...emptySearch, since: 'soon', until: '2030-02-42' })).toEqual(names);
});
