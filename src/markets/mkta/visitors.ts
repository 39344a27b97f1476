import { isObject, type Json, type JsonObject } from '../../base/json.ts';

/** Members about the visitor or reviewers at any depth of a response. */
const personal: ReadonlySet<string> = new Set([
  'adult_consent',
  'author_portrait',
  'author_shopid',
  'author_userid',
  'author_username',
  'birth_timestamp',
  'buyer_address',
  'default_address',
  'delivery_address',
  'receiver_address',
  'reviewer',
  'reviewer_info',
  'shipping_address',
  'user_address',
]);

function scrubbed(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) {
    for (const element of value) scrubbed(element);
    return value;
  }
  if (!isObject(value)) return value;
  for (const name of Object.keys(value)) {
    if (personal.has(name)) delete value[name];
    else scrubbed(value[name]);
  }
  return value;
}

/**
 * Removes data about the visitor and reviewers from a parsed response, in place: the `account` of
 * the response and of its data, and addresses and reviewers' names at any depth. A shop's own
 * `account` is public and stays.
 */
export function withoutVisitors(body: JsonObject): JsonObject {
  delete body.account;
  if (isObject(body.data)) delete body.data.account;
  scrubbed(body);
  return body;
}
