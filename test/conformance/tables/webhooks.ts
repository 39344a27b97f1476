import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { errorResponse } from '../errors.ts';
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
/** Matches any delivery state: a message may be sent at any time. */
const message = having({
  delivery_id: uuid,
  type: 'test',
  job_id: '',
  channel: 'webhook',
  target: `${new URL(url).origin}/…`,
  body: having({ type: 'test' }),
  user_id: uuid,
});
/** The caller `poor` has no webhook. */
const without: Case = {
  title: 'without a webhook',
  caller: 'poor',
  status: 404,
  response: errorResponse,
};

/** Webhooks and their messages: 6 endpoints. */
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
          response: { url: '', enabled: false, secret: '' },
        },
        {
          title: 'a webhook',
          caller: 'other',
          status: 200,
          response: {
            ...webhook,
            enabled: matching('truth', (value) => typeof value === 'boolean'),
          },
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
          response: webhook,
        },
        {
          title: 'a disabled webhook',
          caller: 'other',
          body: { url, disabled: true },
          status: 200,
          response: { ...webhook, enabled: false },
        },
        {
          title: 'a deleted webhook',
          caller: 'poor',
          body: { url: '' },
          status: 200,
          response: { url: '', enabled: false, secret: '' },
        },
        refused('another scheme', 'ftp://hooks.example.org/'),
        refused('a text that is not a URL', 'hooks'),
        refused('a URL with a password', 'https://ann:secret@hooks.invalid/'),
        {
          title: 'no URL, which must not delete the webhook',
          body: { disabled: true },
          status: 422,
          problems: [[['body', 'url'], 'missing']],
        },
        {
          title: 'no body, which must not delete the webhook',
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
          title: 'a number as the URL, and a string as a boolean',
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
      cases: [{ title: 'a new secret', caller: 'other', status: 200, response: webhook }, without],
    },
    {
      verb: 'POST',
      path: `${path}/test`,
      method: rpc.testWebhook,
      cases: [{ title: 'a message', caller: 'other', status: 202, response: message }, without],
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
          response: { deliveries: [], next_page_token: '' },
        },
        {
          title: 'the newest',
          caller: 'other',
          params: { page_size: '1' },
          status: 200,
          response: { deliveries: [message], next_page_token: text },
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
          response: message,
        },
      ],
    },
  ],
};
