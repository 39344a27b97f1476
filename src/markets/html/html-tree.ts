import type { parseDocument } from 'htmlparser2';

export type Document = ReturnType<typeof parseDocument>;
export type Node = Document['children'][number];
/** Element with its attributes and children. */
export type Element = Extract<Node, { attribs: unknown }>;

export const isElement = (node: Node | Document): node is Element => 'attribs' in node;
