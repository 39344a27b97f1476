import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../src/base/json.ts';

/** Value at a path. `present` distinguishes a null value from an absent one. */
export interface Found {
  present: boolean;
  value: Json | undefined;
}

const nothing: Found = { present: false, value: undefined };

/**
 * One step of a path: a key or index, followed by filters on the elements of the array found there.
 */
interface Step {
  name: string;
  filters: { key: string; value: Json }[];
}

const step = /(?<name>[^.[\]]+)(?<filters>(?:\[[^=\]]+=(?:"(?:[^"\\]|\\.)*"|[^\]])*\])*)(?:\.|$)/y;
const filter = /\[([^=\]]+)=((?:"(?:[^"\\]|\\.)*"|[^\]])*)\]/g;

/** Parses a path into steps. Throws an Error that quotes an invalid path. */
function parsePath(path: string): Step[] {
  const steps: Step[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (!match) throw new Error(`invalid path ${JSON.stringify(path)}`);
    steps.push({
      name: match.groups!.name!,
      filters: [...match.groups!.filters!.matchAll(filter)].map(([, key, value]) => ({
        key: key!,
        value: JSON.parse(value!) as Json,
      })),
    });
  }
  return steps;
}

function follow(value: Json | undefined, name: string): Found {
  if (Array.isArray(value)) {
    if (name === 'length') return { present: true, value: value.length };
    const index = /^\d+$/.test(name) ? Number(name) : -1;
    return index >= 0 && index < value.length ? { present: true, value: value[index] } : nothing;
  }
  if (!isObject(value) || !Object.hasOwn(value, name)) return nothing;
  return { present: value[name] !== undefined, value: value[name] };
}

/**
 * Resolves a path (rule 5 of the manifest): dotted keys, numeric array indexes, `.length` of an
 * array, and `list[key=json]` for the elements whose key has that value.
 */
export function find(root: Json, path: string): Found {
  let found: Found = { present: true, value: root };
  for (const { name, filters } of parsePath(path)) {
    found = follow(found.value, name);
    for (const { key, value } of filters) {
      if (!Array.isArray(found.value)) return nothing;
      const kept = found.value.filter(
        (element) => isObject(element) && isDeepStrictEqual(element[key], value),
      );
      found = { present: true, value: kept };
    }
    if (!found.present) return nothing;
  }
  return found;
}
