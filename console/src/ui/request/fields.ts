import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import {
  default_json as defaultOption,
  form as formOption,
} from '../../../../gen/gleaner/options/v1/options_pb.ts';
import { restName } from '../../../../src/contract/rest-form.ts';
import { boundOf, rulesOf } from '../../../../src/contract/rules.ts';

/** Field of a request, as a form shows it. Values are texts; flags are 'true' and 'false'. */
export interface FieldShape {
  /** Name in REST bodies: "shop_id". */
  name: string;
  /** Label in forms: "Shop ID". */
  label: string;
  /** Help text; '' if the label says enough. */
  help: string;
  type: 'text' | 'choice' | 'integer' | 'flag' | 'file';
  required: boolean;
  /** Columns of a CSV file. */
  columns: readonly string[];
  choices: readonly string[];
  /** Pattern that texts must match. */
  pattern: RegExp | null;
  /** Maximum length of a text, in characters. */
  maxLength: number | null;
  /** Minimum of an integer. */
  min: number | null;
  /** Maximum of an integer. */
  max: number | null;
  /** Default value as text; '' if there is none. */
  defaultText: string;
}

/** List of units in a request. */
export interface ListShape {
  /** Name in REST bodies: "items". */
  name: string;
  label: string;
  help: string;
  /** Maximum units per request. */
  max: number;
  /** Fields of a unit; null if a unit is a plain text. */
  fields: readonly FieldShape[] | null;
}

/** Fields of a request and its list of units, if it has one. */
export interface RequestShape {
  fields: readonly FieldShape[];
  list: ListShape | null;
}

export function readRequestShape(message: DescMessage): RequestShape {
  const lists = message.fields.filter(({ fieldKind }) => fieldKind === 'list');
  return {
    fields: message.fields.filter(({ fieldKind }) => fieldKind !== 'list').map(readField),
    list: lists[0] ? readList(lists[0]) : null,
  };
}

/** Returns how forms show a field; without a label in the contract, by the field's name. */
function readForm(field: DescField): Pick<FieldShape, 'label' | 'help' | 'columns'> {
  const { label, help, columns } = getOption(field, formOption);
  return { label: label || restName(field), help, columns };
}

function readList(field: DescField): ListShape {
  const { type } = rulesOf(field);
  const max = type.case === 'repeated' ? Number(type.value.maxItems) : 0;
  return {
    name: restName(field),
    ...readForm(field),
    max: max || Number.POSITIVE_INFINITY,
    fields: field.message ? field.message.fields.map(readField) : null,
  };
}

/** Reads how a form shows a field. */
export function readField(field: DescField): FieldShape {
  const { required, type } = rulesOf(field);
  const text = type.case === 'string' ? type.value : null;
  const defaultJson = getOption(field, defaultOption);
  return {
    name: restName(field),
    ...readForm(field),
    type: fieldType(field, text?.in.length ?? 0),
    required: required || field.scalar === ScalarType.BYTES,
    // An empty text stands for no choice, which forms offer themselves.
    choices: text?.in.filter(Boolean) ?? [],
    pattern: text?.pattern ? new RegExp(text.pattern) : null,
    maxLength: Number(text?.maxLen ?? 0) || null,
    min: boundOf(field, 'gte') ?? null,
    max: boundOf(field, 'lte') ?? null,
    defaultText: defaultJson === '' ? '' : String(JSON.parse(defaultJson)),
  };
}

function fieldType(field: DescField, choices: number): FieldShape['type'] {
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
