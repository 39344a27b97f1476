import { expect, test } from 'vitest';
import { createOwners } from './queue.ts';

const members = Array.from({ length: 8 }, (_, index) => `process ${index}`);
const places = Array.from({ length: 400 }, (_, index) => `mkta/region ${index}`);

const ownersAmong = (ids: readonly string[], owners = 1) => {
  const known = createOwners();
  known.use(ids);
  return new Map(places.map((name) => [name, known.of({ name, owners })]));
};

test('every member owns its share of the places, in any order of the members', () => {
  const found = ownersAmong(members);
  expect(ownersAmong(members.toReversed())).toEqual(found);
  const counts = Map.groupBy(found.values(), ([owner]) => owner);
  for (const member of members) {
    const owned = counts.get(member)!.length;
    expect(owned).toBeGreaterThan(25);
    expect(owned).toBeLessThan(85);
  }
});

test('a member that leaves changes only the places that it owned', () => {
  const before = ownersAmong(members, 2);
  const after = ownersAmong(members.slice(1), 2);
  for (const [name, [first, second]] of before) {
    const kept = [first, second].filter((owner) => owner !== members[0]);
    expect(after.get(name)!.slice(0, kept.length)).toEqual(kept);
  }
});

test('a place has its maximum number of owners, or all members if they are fewer', () => {
  const few = ownersAmong(members, 3);
  for (const owners of few.values()) expect(new Set(owners).size).toBe(3);
  for (const owners of ownersAmong(members, 20).values())
    expect([...owners].sort()).toEqual([...members].sort());
});
