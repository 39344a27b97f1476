import { create, createFileRegistry, setExtension } from '@bufbuild/protobuf';
import {
  FileDescriptorProtoSchema,
  type MethodOptions,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { file_google_api_annotations, http } from '../../gen/google/api/annotations_pb.ts';
import { HttpRuleSchema } from '../../gen/google/api/http_pb.ts';
import { bindingOf, splitRequest } from './rest-form.ts';

/** Returns a method with a path of a custom HTTP method. */
function customMethod(path: string) {
  const options: MethodOptions = create(MethodOptionsSchema);
  const rule = create(HttpRuleSchema, {
    pattern: { case: 'custom', value: { kind: 'REPORT', path } },
  });
  setExtension(options, http, rule);
  const file = create(FileDescriptorProtoSchema, {
    name: 'shelf.proto',
    package: 'fixture.shelf',
    syntax: 'proto3',
    messageType: [{ name: 'Book' }],
    service: [
      {
        name: 'Shelf',
        method: [
          {
            name: 'Report',
            inputType: '.fixture.shelf.Book',
            outputType: '.fixture.shelf.Book',
            options,
          },
        ],
      },
    ],
  });
  const registry = createFileRegistry(file, (name) =>
    name === file_google_api_annotations.name ? file_google_api_annotations : undefined,
  );
  return registry.getService('fixture.shelf.Shelf')!.methods[0]!;
}

test('bindingOf() finds the path fields of a custom HTTP method, in any letter case', () => {
  const { path, body } = bindingOf(customMethod('/shelves/{shelf}/{bookId=*}'));
  expect([[...path], body]).toEqual([['shelf', 'bookId'], '']);
});

describe('splitRequest()', () => {
  test('moves the fields of the path out of the body', () => {
    expect(splitRequest('/v1/sites/{site}/submit', { site: 'a/b', items: [1] })).toEqual({
      path: '/v1/sites/a%2Fb/submit',
      body: { items: [1] },
    });
  });

  test('keeps the name of a field without a value', () => {
    const { path } = splitRequest('/v1/sites/{site}', {});
    expect(decodeURIComponent(path)).toBe('/v1/sites/{site}');
  });
});
