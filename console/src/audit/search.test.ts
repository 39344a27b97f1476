import { expect, test } from 'vitest';
import { isAudited } from '../../../src/api/services/audit-log.ts';
import { services } from '../../../src/contract/services.ts';
import { actions } from './search.ts';

test('every action that the audit log has can be selected', () => {
  const names = new Set(actions.flatMap(({ items }) => items.map(({ value }) => value)));
  const audited = services
    .flatMap(({ methods }) => methods)
    .filter((method) => isAudited(method, { role: 'operator' }))
    .map(({ name }) => name);
  expect(audited.filter((name) => !names.has(name))).toEqual([]);
});
