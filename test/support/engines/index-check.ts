import { type FindOptions, partsOf } from '../../../src/store/collection.ts';
import { declarations } from '../../../src/store/collections.ts';
import type { Declaration } from '../../../src/store/declaration.ts';
import type { Store } from '../../../src/store/store.ts';
import type { CollectionName } from '../../../src/store/stored-documents.ts';
import { wrapMethods } from '../../../src/store/wrap.ts';

type Conditions = Readonly<Record<string, unknown>>;

/** Calls that may read a whole collection: one document per market. */
const accepted: readonly string[] = ['drift.find'];

/** Position of the conditions among the parameters of the methods that have any. */
const conditionsOf: Readonly<
  Record<string, (parameters: readonly unknown[]) => readonly unknown[]>
> = {
  ...Object.fromEntries(
    ['find', 'list', 'pick', 'count', 'countBy', 'update', 'remove'].map((name) => [
      name,
      ([where]: readonly unknown[]) => [where],
    ]),
  ),
  writeAll: ([, updates = []]) => (updates as [unknown][]).map(([where]) => where),
};

/**
 * Wraps a store so that a call fails if it would read a whole collection, because no index begins
 * with a field that its conditions restrict, nor with the first one of its order. The indexes of
 * both engines are those of the declarations.
 */
export function requireIndexes(store: Store): Store {
  return wrapMethods(store, (path, method) => {
    const [name = '', operation = ''] = path.split('.');
    const declaration = (declarations as Readonly<Record<string, Declaration>>)[name];
    const find = conditionsOf[operation];
    if (declaration === undefined || find === undefined || accepted.includes(path)) return method;
    return (...parameters) => {
      const order = orderOf(declaration, operation, parameters);
      for (const where of find(parameters) as Conditions[]) {
        if (!isIndexed(declaration, where, order))
          throw new Error(
            `${path}(${JSON.stringify(where)}) reads the whole collection ${name as CollectionName}`,
          );
      }
      return method(...parameters);
    };
  });
}

/** Returns the first field of the order of a call that reads a bounded number of documents. */
function orderOf(declaration: Declaration, operation: string, parameters: readonly unknown[]) {
  if (operation === 'list') return declaration.order[0];
  if (operation === 'pick')
    return (parameters[2] as FindOptions<Conditions> | undefined)?.order?.[0];
  const { order = declaration.order, limit } = (parameters[1] ?? {}) as FindOptions<Conditions>;
  return operation === 'find' && limit !== undefined ? order[0] : undefined;
}

function isIndexed(
  { id, indexes = [] }: Declaration,
  where: Conditions,
  order: string | undefined,
): boolean {
  const restricts = (field: string) =>
    partsOf(where[field]).some(
      ([operator, value]) => value !== undefined && (operator !== 'not' || value === null),
    );
  // An index of documents in which a field is set does not find null.
  const includes = (set: string | undefined) =>
    set === undefined ||
    (restricts(set) &&
      partsOf(where[set]).every(([operator, value]) => operator !== 'is' || value));
  return [{ fields: id, whereSet: undefined }, ...indexes].some(
    ({ fields: [first = ''], whereSet }) =>
      (restricts(first) || first === order) && includes(whereSet),
  );
}
