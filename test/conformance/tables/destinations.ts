import { DestinationService } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { errorResponse } from '../errors.ts';
import { having, uuid } from '../matchers.ts';
import type { Case, Marketplace } from '../table.ts';

const rpc = DestinationService.method;
const path = '/v1/destinations';
const verbs = ['POST', 'GET'] as const;
const onePath = `${path}/{destination_id}`;
const oneVerbs = ['GET', 'PUT', 'DELETE'] as const;

const bucket = {
  name: 'warehouse',
  type: 's3',
  url: 'https://storage.invalid',
  bucket: 'results',
  access_key: 'key',
  secret_key: 'secret',
};
const address = { name: 'inbox', type: 'https', url: '{receiver}' };
const destination = having({
  destination_id: uuid,
  name: 'inbox',
  type: 'https',
  format: 'json',
  path: '{market}/{kind}/{date}/{job_id}.{ext}',
});

const refused = (title: string, body: object, field: string, type = 'value_error'): Case => ({
  title,
  body,
  status: 422,
  problems: [[['body', field], type]],
});
const params = { destination_id: '{destination}' };
const names = { param: 'destination_id', id: 'uuid' } as const;

/** Destinations of results: 6 endpoints. */
export const destinations: Marketplace = {
  name: 'destinations',
  jobs: {},
  endpoints: [
    {
      verb: 'POST',
      path,
      verbs,
      method: rpc.createDestination,
      cases: [
        {
          title: 'a name that another destination has',
          body: address,
          status: 409,
          response: errorResponse,
        },
        refused('a bucket that does not respond', bucket, 'url'),
        refused(
          'an address that does not respond',
          { ...address, url: 'https://files.invalid/in' },
          'url',
        ),
        refused('a URL with a query', { ...address, url: 'https://files.invalid/?sig=x' }, 'url'),
        refused('a bucket without a secret', { ...bucket, secret_key: '' }, 'secret_key'),
        refused('an address with a bucket', { ...address, bucket: 'results' }, 'bucket'),
        refused('a path that leads out', { ...address, path: '../{job_id}' }, 'path'),
        refused('a path without the job', { ...address, path: '{date}.{ext}' }, 'path'),
        refused('an unknown variable', { ...address, path: '{job_id}/{user}' }, 'path'),
        refused('an unknown type', { ...address, type: 'ftp' }, 'type', 'enum'),
        refused('an unknown format', { ...address, format: 'xml' }, 'format', 'enum'),
        refused(
          'an invalid name',
          { ...address, name: 'In box' },
          'name',
          'string_pattern_mismatch',
        ),
        {
          title: 'no settings',
          body: {},
          status: 422,
          problems: [
            [['body', 'name'], 'missing'],
            [['body', 'type'], 'missing'],
            [['body', 'url'], 'missing'],
          ],
          restOnly: true,
        },
      ],
    },
    {
      verb: 'GET',
      path,
      verbs,
      method: rpc.listDestinations,
      cases: [{ title: 'none', caller: 'poor', status: 200, response: { destinations: [] } }],
    },
    {
      verb: 'GET',
      path: onePath,
      verbs: oneVerbs,
      method: rpc.getDestination,
      names,
      cases: [{ title: 'a destination', params, status: 200, response: { destination } }],
    },
    {
      verb: 'PUT',
      path: onePath,
      verbs: oneVerbs,
      method: rpc.updateDestination,
      names,
      cases: [
        {
          title: 'the same settings',
          params,
          body: { name: 'inbox', url: '{receiver}' },
          status: 200,
          response: { destination },
        },
        {
          ...refused(
            'a path that leads out',
            { name: 'inbox', url: '{receiver}', path: '/{job_id}' },
            'path',
          ),
          params,
        },
      ],
    },
    {
      verb: 'DELETE',
      path: onePath,
      verbs: oneVerbs,
      method: rpc.deleteDestination,
      names,
      // A second request would not find a destination that the first one deleted.
      cases: [
        {
          title: 'a destination that was deleted',
          params: { destination_id: '11111111-1111-4111-8111-111111111111' },
          status: 404,
          response: errorResponse,
        },
      ],
    },
    {
      verb: 'POST',
      path: `${onePath}/test`,
      method: rpc.testDestination,
      names,
      cases: [
        { title: 'a destination', params, status: 200, response: having({ ok: true, error: '' }) },
      ],
    },
  ],
};
