import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { errorAnswer } from '../errors.ts';
import { like } from '../matchers.ts';
import type { Case, Marketplace } from '../table.ts';

const rpc = AccountService.method;
const path = '/v1/account/webhook';
const url = 'https://hooks.example.org/gleaner';

const refused = (title: string, address: string): Case => ({
  title,
  body: { url: address },
  status: 422,
  problems: [[['body', 'url'], 'value_error']],
});
/** The caller `poor` has none. */
const without: Case = { title: 'without a webhook', caller: 'poor', status: 404, answer: errorAnswer };

/** Where messages go: 6 endpoints. What is sent is told elsewhere. */
export const webhooks: Marketplace = {
  name: 'webhooks',
  jobs: {},
  endpoints: [
    {
      verb: 'GET',
      path,
      verbs: ['GET', 'PUT'],
      method: rpc.getWebhook,
      cases: [
        {
          title: 'none',
          caller: 'poor',
          status: 200,
          answer: { url: '', enabled: false, secret: '' },
        },
      ],
    },
    {
      verb: 'PUT',
      path,
      verbs: ['GET', 'PUT'],
      method: rpc.setWebhook,
      cases: [
        {
          title: 'an address that is not used for now',
          caller: 'other',
          body: { url, disabled: true },
          status: 200,
          answer: {
            url,
            enabled: false,
            secret: like(/^whsec_[A-Za-z0-9+/]{32,}=*$/, 'secret'),
            updated_at: like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, 'time'),
          },
        },
        refused('an address of this machine', 'http://127.0.0.1/hook'),
        refused('an address of a private network', 'http://192.168.7.7/hook'),
        refused('another protocol', 'ftp://hooks.example.org/'),
        refused('no address', 'hooks'),
      ],
    },
    { verb: 'POST', path: `${path}/rotate`, method: rpc.rotateWebhookSecret, cases: [without] },
    { verb: 'POST', path: `${path}/test`, method: rpc.testWebhook, cases: [without] },
    {
      verb: 'GET',
      path: `${path}/deliveries`,
      method: rpc.listDeliveries,
      cases: [
        {
          title: 'none',
          caller: 'poor',
          status: 200,
          answer: { deliveries: [], next_page_token: '' },
        },
      ],
    },
    {
      verb: 'POST',
      path: `${path}/deliveries/{delivery_id}/redeliver`,
      method: rpc.redeliverWebhook,
      names: { param: 'delivery_id', id: 'uuid' },
      cases: [
        {
          title: 'a message that was never made',
          params: { delivery_id: '11111111-1111-4111-8111-111111111111' },
          status: 404,
          answer: errorAnswer,
        },
      ],
    },
  ],
};
