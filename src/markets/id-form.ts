import type { DescMessage } from '@bufbuild/protobuf';
import type { JsonObject } from '../base/json.ts';
import { parseItemText } from '../contract/item-text.ts';

/** Form of a page's id in commands, and its conversion to a reader's input. */
export interface IdForm {
  /** The form in words, for error messages: "<shop id>/<item id>, or its address". */
  form: string;
  /** Parses an id. Null if the text does not have the form. */
  parse(text: string): JsonObject | null;
}

/** Creates the form of ids that match a pattern; its named groups are the input. */
export function patternForm(form: string, pattern: RegExp): IdForm {
  return {
    form,
    parse(text) {
      const match = pattern.exec(text);
      return match && { ...match.groups };
    },
  };
}

/** Creates the form of ids that the item of a request declares. */
export const itemForm = (form: string, item: DescMessage): IdForm => ({
  form,
  parse: (text) => parseItemText(item, text),
});

/** Creates the form of ids that may be any text; `name` is the input's field. */
export const textForm = (name: string, form: string): IdForm => ({
  form,
  parse: (text) => ({ [name]: text }),
});

/** The form of listings that are searches and categories: a text is the keyword of a search. */
export const searchForm: IdForm = {
  form: 'a keyword',
  parse: (text) => ({ keyword: text, list_type: 'search' }),
};
