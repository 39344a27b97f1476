import { compileFields, type Field, type RecordFields } from '../quality/record-schema.ts';
import type { Column } from './columns.ts';

/** JSON Schema 2020-12. */
export type JsonSchema = { [keyword: string]: unknown };

/** Member of an object in the tree of listed fields. */
interface Node {
  field: Field | null;
  members: Map<string, Node>;
}

const emptyNode = (): Node => ({ field: null, members: new Map() });

/**
 * Returns the JSON Schema of rows: `columns` at their top, and a record with the listed fields.
 * Every listed field is required; records may have others.
 */
export function rowSchema(
  { id, title }: { id: string; title: string },
  columns: readonly Column[],
  listed: RecordFields,
): JsonSchema {
  const root = emptyNode();
  for (const field of compileFields(listed)) {
    let node = root;
    for (const step of field.steps) {
      if (!node.members.has(step)) node.members.set(step, emptyNode());
      node = node.members.get(step)!;
    }
    node.field = field;
  }
  const { properties, required } = objectSchema(root);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: id,
    title,
    type: 'object',
    properties: {
      ...Object.fromEntries(columns.map(({ name, type }) => [name, { type }])),
      ...(properties as object),
    },
    required: [...columns.map(({ name }) => name), ...(required as string[])],
  };
}

function objectSchema({ members }: Node): JsonSchema {
  const named = [...members].filter(([name]) => name !== '*' && name !== '[]');
  const any = members.get('*');
  const schema: JsonSchema = {};
  if (named.length > 0) {
    schema.properties = Object.fromEntries(named.map(([name, node]) => [name, schemaOf(node)]));
    schema.required = named.map(([name]) => name);
  }
  if (any !== undefined) schema.additionalProperties = schemaOf(any);
  return schema;
}

function schemaOf(node: Node): JsonSchema {
  const items = node.members.get('[]');
  if (items !== undefined) return { type: typeOf(node, 'array'), items: schemaOf(items) };
  if (node.members.size > 0) return { type: typeOf(node, 'object'), ...objectSchema(node) };
  // Any value.
  if (node.field === null || node.field.type === 'any') return {};
  if (node.field.type === 'timestamp') return { type: typeOf(node, 'string'), format: 'date-time' };
  return { type: typeOf(node, node.field.type) };
}

function typeOf({ field }: Node, type: string): string | string[] {
  return field?.nullable ? [type, 'null'] : type;
}
