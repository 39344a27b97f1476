import { describe, expect, test } from 'vitest';
import { parseMongoUri } from './mongo-uri.ts';

const host = 'mongodb://ann:p%3Fw@one.example:27017,two.example/gleaner';

describe('parseMongoUri()', () => {
  test.each([
    host,
    'mongodb+srv://cluster.example',
    `${host}?replicaSet=rs0&retryWrites=false&readPreference=primary&readConcernLevel=majority`,
    `${host}?W=majority&journal=true&authSource=admin&wtimeoutMS=5000`,
    // The driver reports options that it does not know.
    `${host}?constructor=1`,
  ])('accepts %s', (uri) => {
    expect(parseMongoUri(uri)).toBe(uri);
  });

  test.each([
    ['readPreference=secondaryPreferred', 'readPreference=secondaryPreferred'],
    ['readpreference=nearest', 'readPreference=nearest'],
    ['readPreference=primary&readPreference=secondary', 'readPreference=secondary'],
    ['readPreferenceTags=dc:east', 'readPreferenceTags=dc:east'],
    ['maxStalenessSeconds=120', 'maxStalenessSeconds=120'],
    ['readConcernLevel=local', 'readConcernLevel=local'],
    ['w=1', 'w=1'],
    ['w=0', 'w=0'],
    ['journal=false', 'journal=false'],
    ['retryWrites=true&j=false', 'j=false'],
  ])('rejects %s and names the option', (query, named) => {
    expect(() => parseMongoUri(`${host}?${query}`)).toThrow(`the option ${named} weakens`);
  });

  test('rejects another scheme', () => {
    expect(() => parseMongoUri('https://one.example')).toThrow('expected a URI');
  });
});
