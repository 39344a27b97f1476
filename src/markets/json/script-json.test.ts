import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkProperty } from '../../../test/support/run/properties.ts';
import { expectLinear } from '../../../test/support/time/cost.ts';
import { createPageWork } from '../html/page-work.ts';
import { jsonAfter, parseJson } from './script-json.ts';

it('extracts a value from a script by its brackets', () => {
  const script = `var a = {'images': { 'initial': [{"large":"x]}","alt":"it's \\"one\\""}]}, 'rest': 1};`;
  expect(jsonAfter(script, "'initial'", createPageWork())).toEqual([
    { large: 'x]}', alt: `it's "one"` },
  ]);
});

it('reads JSON with the escaped apostrophes of a string in single quotes', () => {
  const script = String.raw`x = jQuery.parseJSON('{"map":{"a":["Men\'s, 12\" wide"]}}');`;
  expect(jsonAfter(script, '"map"', createPageWork())).toEqual({ a: [`Men's, 12" wide`] });
});

it('skips positions where no JSON follows the marker', () => {
  const script = 'data["map"] = obj.map; x = {"map" : {"0_1":"B1"}}; {"map":{"0_2":"B2"}}';
  expect(jsonAfter(script, 'map', createPageWork())).toEqual({ '0_1': 'B1' });
});

it.each(['', 'map', 'map: {', 'map: {"a": [1, 2}', "map: {'a': 1}", 'map: 5'])(
  'finds nothing in %j',
  (script) => expect(jsonAfter(script, 'map', createPageWork())).toBeUndefined(),
);

it('rejects excessive depth in linear time', () => {
  const array = '['.repeat(5_000_000);
  const script = 'map: {"a":'.repeat(200_000);
  expectLinear(() => {
    expect(parseJson(array)).toBeUndefined();
    expect(parseJson(`${'['.repeat(5000)}${']'.repeat(5000)}`)).toBeUndefined();
    expect(jsonAfter(script, 'map', createPageWork())).toBeUndefined();
  }, [array, script]);
});

it('ends with page_too_complex where a marker stands in many scripts', () => {
  const work = createPageWork();
  const script = `map: {"a": ${' '.repeat(1_000_000)}`;
  expect(() => Array.from({ length: 1_000 }, () => jsonAfter(script, 'map', work))).toThrow(
    expect.objectContaining({ code: 'page_too_complex' }),
  );
});

it('parses text that is an object or an array', () => {
  expect(parseJson(' {"a":[1]} ')).toEqual({ a: [1] });
  for (const text of ['5', '"a"', '{} {}', '<html>', '{"a":'])
    expect(parseJson(text)).toBeUndefined();
});

it('finds the end of a value with any quotes, escapes, and brackets in its strings', () => {
  const text = fc.string({
    unit: fc.constantFrom('"', "'", '\\', '[', ']', '{', '}', ',', ' ', 'a', 'é'),
  });
  // V8 reads an escaped key as an earlier key that ends with a backslash (Node issue 63785).
  const key = text.filter((name) => !name.endsWith('\\'));
  const value = fc.array(fc.oneof(text, fc.array(text), fc.dictionary(key, text)));
  checkProperty(
    fc.property(value, text, (json, after) => {
      const script = `x = {"map": ${JSON.stringify(json)}${after}`;
      expect(jsonAfter(script, 'map', createPageWork())).toEqual(json);
      expect(parseJson(JSON.stringify(json))).toEqual(json);
    }),
  );
});
