import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { errorAnswer } from '../errors.ts';
import { having, like, matching, text, uuid } from '../matchers.ts';
import { pageCases } from '../pages.ts';
import { webhookUrl } from '../stage.ts';
import type { Case, Marketplace } from '../table.ts';

const rpc = AccountService.method;
const path = '/v1/account/webhook';
const url = webhookUrl;

const refused = (title: string, address: string): Case => ({
  title,
  body: { url: address },
  status: 422,
  problems: [[['body', 'url'], 'value_error']],
});
const webhook = {
  url,
  enabled: true,
  secret: like(/^whsec_[A-Za-z0-9+/]{32,}=*$/, 'secret'),
  updated_at: like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, 'time'),
};
/** A message may be tried at any time. */
const message = having({
  delivery_id: uuid,
  type: 'test',
  job_id: '',
  channel: 'webhook',
  target: url,
  body: having({ type: 'test' }),
  user_id: uuid,
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
        {
          title: 'one that is set',
          caller: 'other',
          status: 200,
          answer: { ...webhook, enabled: matching('truth', (value) => typeof value === 'boolean') },
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
          title: 'an address',
          caller: 'other',
          body: { url, disabled: false },
          status: 200,
          answer: webhook,
        },
        {
          title: 'an address that is not used for now',
          caller: 'other',
          body: { url, disabled: true },
          status: 200,
          answer: { ...webhook, enabled: false },
        },
        {
          title: 'none any more',
          caller: 'poor',
          body: { url: '' },
          status: 200,
          answer: { url: '', enabled: false, secret: '' },
        },
        refused('an address of this machine', 'http://127.0.0.1/hook'),
        refused('an address of a private network', 'http://192.168.7.7/hook'),
        refused('another protocol', 'ftp://hooks.example.org/'),
        refused('no address', 'hooks'),
        refused('an address with a password', 'https://ann:secret@hooks.invalid/'),
        refused('a name of this machine', 'http://localhost:8080/'),
        refused('a private address of IPv6', 'http://[fd00::1]/'),
        refused('an address of this machine as one number', 'http://2130706433/'),
        refused('the port of another service', 'http://hooks.invalid:25/'),
        {
          title: 'no address, which must not remove one',
          body: { disabled: true },
          status: 422,
          problems: [[['body', 'url'], 'missing']],
        },
        {
          title: 'no body, which must not remove one either',
          raw: { type: 'application/json', bytes: '' },
          status: 422,
          problems: [[['body'], 'missing']],
          restOnly: true,
        },
        {
          title: 'an address that is too long',
          body: { url: `https://hooks.invalid/${'x'.repeat(2_000)}` },
          status: 422,
          problems: [[['body', 'url'], 'string_too_long']],
        },
        {
          title: 'a number for an address, and a word for a truth value',
          body: { url: 17, disabled: 'perhaps' },
          status: 422,
          problems: [
            [['body', 'url'], 'string_type'],
            [['body', 'disabled'], 'bool_parsing'],
          ],
          restOnly: true,
        },
      ],
    },
    {
      verb: 'POST',
      path: `${path}/rotate`,
      method: rpc.rotateWebhookSecret,
      cases: [{ title: 'a new secret', caller: 'other', status: 200, answer: webhook }, without],
    },
    {
      verb: 'POST',
      path: `${path}/test`,
      method: rpc.testWebhook,
      cases: [{ title: 'a message', caller: 'other', status: 202, answer: message }, without],
    },
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
        {
          title: 'the newest',
          caller: 'other',
          params: { page_size: '1' },
          status: 200,
          answer: { deliveries: [message], next_page_token: text },
        },
        ...pageCases,
      ],
    },
    {
      verb: 'POST',
      path: `${path}/deliveries/{delivery_id}/redeliver`,
      method: rpc.redeliverWebhook,
      names: { param: 'delivery_id', id: 'uuid' },
      cases: [
        {
          title: 'a message',
          caller: 'other',
          params: { delivery_id: '{message}' },
          status: 202,
          answer: message,
        },
      ],
    },
  ],
};
