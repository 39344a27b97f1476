import { type DescField, type DescMethod, getOption, hasOption } from '@bufbuild/protobuf';
import { rest_name as restNameOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import { http } from '../../gen/google/api/annotations_pb.ts';
import type { Problem } from './fault.ts';
import { pathPart } from './path-part.ts';

/** Location of the fields of a request message in its REST form. */
export interface Binding {
  path: ReadonlySet<string>;
  /**
   * `*`: every other field is in the body; a proto name: that field is the body. Empty: no body.
   */
  body: string;
}

/**
 * Returns the REST form of a method by its google.api.http option; without one, every field is in
 * the body.
 */
export function bindingOf(method: DescMethod): Binding {
  if (!hasOption(method, http)) return { path: new Set(), body: '*' };
  const rule = getOption(method, http);
  const { pattern } = rule;
  const template = pattern.case === 'custom' ? pattern.value.path : (pattern.value ?? '');
  return {
    path: new Set(Array.from(template.matchAll(/\{([A-Za-z0-9_]+)/g), (match) => match[1]!)),
    body: rule.body,
  };
}

/**
 * Returns the path of a template with the values of a request's fields, and the other values, which
 * are the body. A field without a value keeps its name in braces, which no resource has.
 */
export function splitRequest(
  template: string,
  values: Readonly<Record<string, unknown>>,
): { path: string; body: Record<string, unknown> } {
  const body = { ...values };
  const path = template.replace(/\{(\w+)\}/g, (variable, name: string) => {
    delete body[name];
    return pathPart(String(values[name] ?? variable));
  });
  return { path, body };
}

// Reading an option builds a message, and planning a unit needs several (bench/submit.ts).
const restNames = new WeakMap<DescField, string>();

/** Returns the name of a field in REST bodies: `rest_name`, otherwise the proto name. */
export function restName(field: DescField): string {
  const cached = restNames.get(field);
  if (cached !== undefined) return cached;
  const name = getOption(field, restNameOption) || field.name;
  restNames.set(field, name);
  return name;
}

/** Returns the location of a field of a request: the first steps of the `loc` of its problems. */
export function placeOf(binding: Binding, field: DescField): Problem['loc'] {
  const name = restName(field);
  if (binding.path.has(field.name)) return ['path', name];
  if (binding.body === '*') return ['body', name];
  return binding.body === field.name ? ['body'] : ['query', name];
}
