import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import { comments } from '../../../gen/comments.ts';
import { default_json as defaultOption } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { restName } from '../../../src/contract/rest-form.ts';
import { boundOf, rulesOf } from '../../../src/contract/rules.ts';

/** One field of a request, as a form asks for it. Values are texts; flags are 'true' and 'false'. */
export interface FieldShape {
  /** Name in REST bodies: "shop_id". */
  name: string;
  /** What it is, as the contract says. */
  about: string;
  sort: 'text' | 'choice' | 'integer' | 'flag' | 'file';
  required: boolean;
  /** For choices: what there is. */
  choices: readonly string[];
  /** What texts must look like. */
  pattern: RegExp | null;
  /** Longest text, in characters. */
  maxLength: number | null;
  /** Least integer. */
  least: number | null;
  /** Greatest integer. */
  most: number | null;
  /** What holds without it, as text; '' for nothing. */
  fallback: string;
}

/** The list of a request: its units. */
export interface ListShape {
  /** Name in REST bodies: "items". */
  name: string;
  about: string;
  /** Most units of one request. */
  most: number;
  /** Fields of a unit; null where a unit is a text by itself. */
  fields: readonly FieldShape[] | null;
}

/** What a request is made of: fields of its own, and a list of units where it has one. */
export interface RequestShape {
  fields: readonly FieldShape[];
  list: ListShape | null;
}

/** Reads the shape of a request off its declaration. */
export function shapeOf(message: DescMessage): RequestShape {
  const lists = message.fields.filter(({ fieldKind }) => fieldKind === 'list');
  return {
    fields: message.fields.filter(({ fieldKind }) => fieldKind !== 'list').map(fieldOf),
    list: lists[0] ? listOf(lists[0]) : null,
  };
}

const aboutOf = (field: DescField) => comments[`${field.parent.typeName}.${field.name}`] ?? '';

function listOf(field: DescField): ListShape {
  const { type } = rulesOf(field);
  const most = type.case === 'repeated' ? Number(type.value.maxItems) : 0;
  return {
    name: restName(field),
    about: aboutOf(field),
    most: most || Number.POSITIVE_INFINITY,
    fields: field.message ? field.message.fields.map(fieldOf) : null,
  };
}

function fieldOf(field: DescField): FieldShape {
  const { required, type } = rulesOf(field);
  const text = type.case === 'string' ? type.value : null;
  const fallback = getOption(field, defaultOption);
  return {
    name: restName(field),
    about: aboutOf(field),
    sort: sortOf(field, text?.in.length ?? 0),
    required: required || field.scalar === ScalarType.BYTES,
    choices: text?.in ?? [],
    pattern: text?.pattern ? new RegExp(text.pattern) : null,
    maxLength: Number(text?.maxLen ?? 0) || null,
    least: boundOf(field, 'gte') ?? null,
    most: boundOf(field, 'lte') ?? null,
    fallback: fallback === '' ? '' : String(JSON.parse(fallback)),
  };
}

function sortOf(field: DescField, choices: number): FieldShape['sort'] {
  if (choices > 0) return 'choice';
  switch (field.scalar) {
    case ScalarType.BOOL:
      return 'flag';
    case ScalarType.BYTES:
      return 'file';
    case ScalarType.INT32:
    case ScalarType.INT64:
      return 'integer';
    default:
      return 'text';
  }
}
