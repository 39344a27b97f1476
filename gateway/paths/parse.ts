/**
 * Segment of a template: a literal, a wildcard for one segment, or, last only, for any number of
 * segments.
 */
export type PathSegment = { kind: 'literal'; text: string } | { kind: '*' } | { kind: '**' };

/**
 * Variable of a template: segments `start` to `end`, joined by slashes. `end` is exclusive. If it
 * is null, the variable is the rest of the path.
 */
export interface Variable {
  /** Proto name of the field. */
  field: string;
  start: number;
  end: number | null;
}

export interface Template {
  segments: PathSegment[];
  variables: Variable[];
  /** Text after the last colon. Empty if there is none. */
  verb: string;
}

/**
 * Parses a google.api.http path template: literals, `*`, `**` at the end, `{field}`,
 * `{field=pattern}` and a verb. Throws an Error that names the template.
 */
export function parse(template: string): Template {
  const tokens = scan(template);
  const segments: PathSegment[] = [];
  const variables: Variable[] = [];
  let at = 0;
  let verb = '';

  const refuse = (why: string): never => {
    throw new Error(`path template ${template}: ${why}`);
  };
  const next = (): Token | undefined => tokens[at++];
  const expect = (kind: Token['kind']) => {
    if (next()?.kind !== kind) refuse(`expected ${kind} before token ${at}`);
  };
  const word = (): string => {
    const token = next();
    if (token?.kind === 'word') return token.text;
    return refuse(`expected a name before token ${at}`);
  };
  const segment = () => {
    if (segments.at(-1)?.kind === '**') refuse('** must be last');
    const token = next();
    if (token?.kind === '{') variable();
    else if (token?.kind === '*' || token?.kind === '**') segments.push({ kind: token.kind });
    else if (token?.kind === 'word') segments.push({ kind: 'literal', text: token.text });
    else refuse(`expected a segment before token ${at}`);
  };
  const variable = () => {
    const field = word();
    const start = segments.length;
    if (variables.some((other) => other.field === field)) refuse(`${field} stands twice`);
    if (tokens[at]?.kind === '=') {
      do {
        at += 1;
        if (tokens[at]?.kind === '{') refuse('variables do not nest');
        segment();
      } while (tokens[at]?.kind === '/');
    } else segments.push({ kind: '*' });
    expect('}');
    variables.push({ field, start, end: segments.at(-1)?.kind === '**' ? null : segments.length });
  };

  do {
    expect('/');
    segment();
  } while (tokens[at]?.kind === '/');
  if (tokens[at]?.kind === ':') {
    at += 1;
    verb = word();
  }
  if (at !== tokens.length) refuse(`unexpected token ${at + 1}`);
  return { segments, variables, verb };
}

/** A token of a path template; a word is a literal or a field name. */
type Token = { kind: '/' | '*' | '**' | '{' | '}' | '=' | ':' } | { kind: 'word'; text: string };

const symbols = /(\*\*|[/*{}=:])|([A-Za-z0-9_.~$@!&'()+,;%-]+)/y;

/**
 * Splits a google.api.http path template into tokens. Throws an Error with the template and the
 * position.
 */
function scan(template: string): Token[] {
  const tokens: Token[] = [];
  symbols.lastIndex = 0;
  while (symbols.lastIndex < template.length) {
    const at = symbols.lastIndex;
    const match = symbols.exec(template);
    if (match === null)
      throw new Error(`path template ${template}: unexpected "${template[at]}" at ${at}`);
    const [, symbol, text] = match;
    tokens.push(text === undefined ? { kind: symbol as '/' } : { kind: 'word', text });
  }
  return tokens;
}
