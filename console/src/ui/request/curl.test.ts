import { expect, test } from 'vitest';
import { findJobType } from '../../../../src/contract/job-types.ts';
import { curlText } from './curl.ts';

test('curlText() puts the fields of the path there', () => {
  const jobType = findJobType({ market: 'sites', kind: 'pdp_bulk' })!;
  const draft = {
    own: { site: 'kiln' },
    units: [{ url: 'https://kiln.example/p/1' }],
    options: {},
  };
  const text = curlText('https://gleaner.example', jobType, draft);
  expect(text).toContain("'https://gleaner.example/v1/sites/kiln/pdp/bulk/submit'");
  expect(text).toContain(`--data '{"items":[{"url":"https://kiln.example/p/1"}]}'`);
});
