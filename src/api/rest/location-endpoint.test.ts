import { create, type DescService, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { servedEndpoints } from '../../../gateway/endpoint.ts';
import { shopService } from '../../../gateway/fixture/shop.ts';
import { createLocator } from '../../../gateway/response/location.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { MktcService } from '../../../gen/gleaner/mktc/v1/mktc_pb.ts';
import { MktdService } from '../../../gen/gleaner/mktd/v1/mktd_pb.ts';
import { SitesService } from '../../../gen/gleaner/sites/v1/sites_pb.ts';
import { addressForms, shownByKind } from './rest.ts';

/**
 * Returns the `Location` of a method's response, one per path form, or undefined if there is none.
 */
function locationsOf(
  services: DescService[],
  method: string,
  response: object,
  reversed = false,
  request: object = {},
) {
  const declared = servedEndpoints(services, addressForms);
  const endpoints = reversed ? declared.toReversed() : declared;
  const endpoint = endpoints.find(
    (known) => known.method.name === method && known.method.parent === services.at(-1),
  )!;
  const locate = createLocator(endpoint, endpoints, shownByKind);
  const { input, output } = endpoint.method;
  const message = create(output, response as MessageInitShape<typeof output>);
  const given = create(input, request as MessageInitShape<typeof input>);
  return locate && endpoint.forms.map((_, form) => locate(message, form, given));
}

test('createLocator() starts with the path of the public address', () => {
  const endpoints = servedEndpoints([MktdService, MktaService], addressForms);
  const endpoint = endpoints.find(({ method }) => method.name === 'SubmitGetPc')!;
  const { input, output } = endpoint.method;
  const locationAt = (address: string) =>
    createLocator(endpoint, endpoints, shownByKind, () => address)!(
      create(output, { taskId: 7n } as MessageInitShape<typeof output>),
      1,
      create(input),
    );
  expect(locationAt('https://shop.test/a/b')).toBe('/a/b/mkta/get_pc/retrieve/7');
  for (const address of ['https://shop.test', 'https://shop.test/', '/'])
    expect(locationAt(address)).toBe('/mkta/get_pc/retrieve/7');
});

const both = (path: string) => expect.arrayContaining([path, `/v1${path}`]);

describe('shownByKind()', () => {
  test.each([false, true])(
    'returns the read method of the kind (endpoints reversed: %s)',
    (reversed) => {
      const locations = (method: string, response: object) =>
        locationsOf([MktdService, MktaService], method, response, reversed);
      expect(locations('SubmitGetPc', { taskId: 7n })).toEqual(both('/mkta/get_pc/retrieve/7'));
      expect(locations('SubmitGetPcBulk', { taskId: 7n })).toEqual(
        both('/mkta/get_pc_bulk/retrieve/7'),
      );
      expect(locations('SubmitSearchItems', { jobId: 'a/b' })).toEqual(
        both('/mkta/search-items/retrieve/a%2Fb'),
      );
      expect(locations('SubmitMerchantItems', { jobId: 'x' })).toEqual(
        both('/mkta/merchant-items/retrieve/x'),
      );
    },
  );

  test('names the new job of a call whose path names another one', () => {
    const locations = locationsOf([JobService], 'RetryJob', { jobId: 'new' }, false, {
      jobId: 'old',
    });
    expect(locations).toEqual(both('/jobs/new'));
  });

  test('fills in the variables of the path of the submit', () => {
    const locations = locationsOf([SitesService], 'SubmitPdpBulk', { jobId: 'x' }, false, {
      site: 'a/b',
    });
    expect(locations).toEqual(both('/sites/a%2Fb/pdp/bulk/retrieve/x'));
  });

  test('returns the first of several read methods', () => {
    expect(locationsOf([MktaService], 'SubmitVariantSold', { jobId: 'x' })).toEqual(
      both('/mkta/variant_sold_v1/retrieve/x'),
    );
  });

  test.each([false, true])('stays within the service (endpoints reversed: %s)', (reversed) => {
    for (const services of [
      [MktdService, MktcService],
      [MktcService, MktdService],
    ]) {
      const market = services.at(-1) === MktcService ? 'mktc' : 'mktd';
      const locations = locationsOf(services, 'SubmitPdpBulk', { jobId: 'x' }, reversed)!;
      for (const path of locations) expect(path).toMatch(new RegExp(`^(/v1)?/${market}/.*/x$`));
    }
  });

  test.each([false, true])(
    'returns a GET of a service without kinds (endpoints reversed: %s)',
    (reversed) => {
      expect(locationsOf([shopService], 'PlaceOrder', { number: 7n }, reversed)).toEqual(
        both('/shop/orders/7'),
      );
    },
  );

  test('returns undefined for another status, or without a method that shows the job', () => {
    expect(locationsOf([shopService], 'GetOrder', {})).toBeUndefined();
    const [upload, ...others] = servedEndpoints([shopService], addressForms).toSorted((one) =>
      one.method.name === 'UploadOrder' ? -1 : 1,
    );
    const lists = others.filter(({ method }) => method.name !== 'GetOrder');
    expect(createLocator(upload!, [upload!, ...lists], shownByKind)).toBeUndefined();
  });
});
