import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { endpointsOf } from '../../gateway/endpoint.ts';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { MktcService } from '../../gen/gleaner/mktc/v1/mktc_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { services } from '../rpc/services.ts';
import { endpointOf } from './endpoint.ts';

describe('endpoints', () => {
  test('are those that the gateway serves', () => {
    const served = endpointsOf(services);
    expect(served.length).toBeGreaterThan(30);
    for (const { method, verb, path, streams } of served)
      expect(endpointOf(method)).toMatchObject({ verb, path, isStream: streams, isConnect: false });
  });

  test('of methods without a path are those of Connect', () => {
    expect(endpointOf(OperatorService.method.approveJob)).toMatchObject({
      verb: 'POST',
      path: '/gleaner.operator.v1.OperatorService/ApproveJob',
      isConnect: true,
      isSubmit: false,
    });
  });
});

describe('a request', () => {
  test('has its variables in the path, whatever characters they have', () => {
    const method = MktaService.method.downloadVariantSoldItem;
    const message = create(method.input, { jobId: 'a/b', itemId: 'ü {job_id} $&' });
    expect(endpointOf(method).requestOf(message)).toEqual({
      verb: 'GET',
      path: '/v1/mkta/variant_sold_v1/download/a%2Fb/item/%C3%BC%20%7Bjob_id%7D%20%24%26',
      body: undefined,
    });
  });

  test('has what is set, and neither in path nor body, in its query', () => {
    const method = AccountService.method.listLedgerEntries;
    const requestOf = (pageToken: string) =>
      endpointOf(method).requestOf(create(method.input, { pageSize: 5, pageToken })).path;
    expect(requestOf('a&b')).toBe('/v1/account/ledger?page_size=5&page_token=a%26b');
    expect(requestOf('')).toBe('/v1/account/ledger?page_size=5');
  });

  test('has its REST names, and what is set alone, in its body', () => {
    const method = MktcService.method.submitPdpBulk;
    const message = create(method.input, {
      items: [{ formattedId: 'ps--1', sku: 's', pickupPointCode: 'p' }],
    });
    expect(endpointOf(method).requestOf(message)).toEqual({
      verb: 'POST',
      path: '/v1/mktc/pdp/bulk/submit',
      body: { items: [{ formattedId: 'ps--1', sku: 's', pickupPointCode: 'p' }] },
    });
  });

  test('is a form where the contract says so, with a file of its bytes', async () => {
    const method = MktaService.method.submitGetPcBulk;
    const file = new TextEncoder().encode('region,shop_id,item_id\n');
    const { body } = endpointOf(method).requestOf(create(method.input, { file, rescrape: false }));
    const form = body as FormData;
    expect([...form.keys()]).toEqual(['file', 'rescrape']);
    expect(form.get('rescrape')).toBe('false');
    expect(await (form.get('file') as File).text()).toBe('region,shop_id,item_id\n');
  });
});
