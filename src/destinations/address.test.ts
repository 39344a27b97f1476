import { afterEach, beforeEach, expect, test } from 'vitest';
import { putAddress, storeDestination } from '../../test/support/jobs/destinations.ts';
import { type JobFixture, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { newId } from '../base/id.ts';
import { createSecretBox } from '../links/secret-box.ts';
import { sweep } from '../sweep/sweep.ts';
import { openDestination } from './address.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
});
afterEach(() => fixture.close());

const boxOf = (...secrets: string[]) => createSecretBox(secrets);

test('the sweep encrypts secrets with the newest key, after which the earlier one is not needed', async () => {
  const { store, destinations } = fixture.context;
  const userId = newId();
  const address = putAddress('https://files.example', { authorization: 'Bearer hidden' });
  const rotated = boxOf('the newer secret', 'a secret of the tests');
  const kept = await storeDestination(fixture.context, userId, address);
  const foreign = await storeDestination(
    { ...fixture.context, destinations: { ...destinations, box: boxOf('a lost secret') } },
    userId,
    address,
    { name: 'foreign' },
  );
  await sweep(fixture.context);
  expect(await store.destinations.get(kept.id)).toEqual(kept);
  for (let round = 0; round < 2; round += 1)
    await sweep({ ...fixture.context, destinations: { ...destinations, box: rotated } });
  const resealed = (await store.destinations.get(kept.id))!;
  expect(resealed).toMatchObject({ revision: 2, secretsKey: rotated.newestKey });
  expect(openDestination(boxOf('the newer secret'), resealed)).toEqual(address);
  expect(await store.destinations.get(foreign.id)).toEqual(foreign);
});
