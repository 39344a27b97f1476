import { afterAll, describe } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import { storeContract } from '../contract.ts';
import { openMongoStore } from './open.ts';

const mongo = await findMongo();

describe.skipIf('missing' in mongo)(`MongoDB store${'missing' in mongo ? ` (${mongo.missing})` : ''}`, () => {
  if ('missing' in mongo) return;
  afterAll(() => mongo.stop());

  storeContract(async () => {
    const uri = mongo.fresh();
    const store = openMongoStore({ uri });
    const other = openMongoStore({ uri });
    return {
      store,
      other,
      remove: async () => {
        await other.close();
        await store.close();
      },
    };
  });
});
