// The API reference at /docs: the OpenAPI documents as a page that needs no framework, so that it
// is quick on a phone. A call is rendered when it is opened.
import './reference.css';
import './content.css';
import {
  type ApiCall,
  type ApiDocument,
  callsByTag,
  curlOf,
  fieldsOf,
  resolve,
  type ShownField,
  typeText,
} from './document.ts';
import { blockNodes, element, inlineNodes } from './markdown.ts';

const isOperator = new URLSearchParams(location.search).get('api') === 'operator';

const slug = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** API key that the examples contain; '' for a variable. It is kept in the page only. */
let apiKey = '';

function fieldTable(caption: string, fields: readonly ShownField[]): Node[] {
  if (fields.length === 0) return [];
  const rows = fields.map(({ name, type, isRequired, text }) =>
    element(
      'tr',
      {},
      element(
        'td',
        {},
        element('code', {}, name),
        ...(isRequired ? [' ', element('b', {}, 'required')] : []),
      ),
      element('td', {}, type),
      element('td', {}, ...inlineNodes(text)),
    ),
  );
  const heads = ['Name', 'Type', 'Meaning'].map((title) => element('th', { scope: 'col' }, title));
  const table = element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...heads)),
    element('tbody', {}, ...rows),
  );
  const region = {
    class: 'scroll',
    tabindex: '0',
    role: 'region',
    'aria-label': caption,
  };
  return [element('h4', {}, caption), element('div', region, table)];
}

/** Returns a block of code with a button that copies it. `text` is read again for each use. */
function codeBlock(title: string, text: () => string): Node[] {
  const code = element('code', {}, text());
  const copy = element('button', { type: 'button' }, 'Copy');
  copy.addEventListener('click', () => void navigator.clipboard.writeText(text()));
  document.addEventListener('key', () => code.replaceChildren(text()));
  return [element('h4', {}, title, ' ', copy), element('pre', { tabindex: '0' }, code)];
}

const parameterTitles = { path: 'In the path', query: 'Query parameters', header: 'Headers' };

/** Returns the details of a call. */
function callNodes(api: ApiDocument, call: ApiCall): Node[] {
  const parameters = Object.entries(parameterTitles).flatMap(([location, title]) => {
    const placed = (call.parameters ?? []).filter((parameter) => parameter.in === location);
    const fields = placed.map(({ name, schema, required = false, description = '' }) => ({
      name,
      type: typeText(api, schema),
      isRequired: required,
      text: description,
    }));
    return fieldTable(title, fields);
  });
  const bodies = Object.entries(call.requestBody?.content ?? {}).flatMap(([type, { schema }]) =>
    fieldTable(`Body, ${type}`, fieldsOf(api, schema)),
  );
  const responses = Object.entries(call.responses).map(
    ([status, response]) => [status, resolve(api, response)] as const,
  );
  const successes = responses.filter(([status]) => /^2/.test(status));
  const results = successes.flatMap(([status, { content }]) =>
    Object.entries(content ?? {}).flatMap(([type, { schema, example }]) => {
      const fields = fieldTable(`Response ${status}, ${type}`, fieldsOf(api, schema));
      if (example === undefined || typeof example === 'string') return fields;
      const print = () => JSON.stringify(example, null, 2);
      return [...fields, ...codeBlock(`Example of the response ${status}`, print)];
    }),
  );
  const statuses = responses.map(([status, { description = '' }]) => ({
    name: status,
    type: '',
    isRequired: false,
    text: description,
  }));
  const query = isOperator ? '?api=operator' : '';
  const trial = `docs/try${query}#api/tag/${slug(call.tags[0]!)}/${call.verb}${call.path}`;
  return [
    ...blockNodes(call.description),
    ...codeBlock('curl', () => curlOf(api, call, apiKey)),
    ...(call['x-codeSamples'] ?? []).flatMap(({ label, source }) => codeBlock(label, () => source)),
    element('p', {}, element('a', { href: trial }, 'Try it in the interactive reference')),
    ...parameters,
    ...bodies,
    ...results,
    ...fieldTable('Statuses', statuses),
  ];
}

/** Returns the section of a call, which shows its details when it is opened. */
function callSection(api: ApiDocument, call: ApiCall): HTMLElement {
  const heading = element('h3', {}, call.summary);
  const address = element(
    'code',
    {},
    element('b', { class: call.verb.toLowerCase() }, call.verb),
    ` ${call.path}`,
  );
  const section = element(
    'details',
    { id: call.operationId },
    element('summary', {}, heading, address),
  );
  section.addEventListener(
    'toggle',
    () => section.append(element('div', { class: 'call' }, ...callNodes(api, call))),
    { once: true },
  );
  return section;
}

/** Opens the call that the address names. */
function openNamed(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) named.open = true;
  named?.scrollIntoView();
}

/** Shows only the calls whose titles or paths contain a text. */
function filterCalls(text: string): void {
  const words = text.toLowerCase().split(/\s+/);
  for (const entry of document.querySelectorAll<HTMLElement>('[data-words]'))
    entry.hidden = !words.every((word) => entry.dataset.words!.includes(word));
  for (const group of document.querySelectorAll<HTMLElement>('[data-group]'))
    group.hidden = group.querySelector('[data-words]:not([hidden])') === null;
}

function show(api: ApiDocument): void {
  const groups = callsByTag(api).filter(({ calls }) => calls.length > 0);
  const wordsOf = (tag: string, { summary, verb, path }: ApiCall) =>
    `${tag} ${summary} ${verb} ${path}`.toLowerCase();
  const links = groups.map(({ name, calls }) =>
    element(
      'li',
      { 'data-group': '' },
      element('a', { href: `#${slug(name)}` }, name),
      element(
        'ul',
        {},
        ...calls.map((call) =>
          element(
            'li',
            { 'data-words': wordsOf(name, call) },
            element('a', { href: `#${call.operationId}` }, call.summary),
          ),
        ),
      ),
    ),
  );
  const sections = groups.map(({ name, text, calls }) => {
    const listed = calls.map((call) => {
      const section = callSection(api, call);
      section.dataset.words = wordsOf(name, call);
      return section;
    });
    return element(
      'section',
      { id: slug(name), 'data-group': '' },
      element('h2', {}, name),
      ...blockNodes(text),
      ...listed,
    );
  });
  document.querySelector('#calls')!.replaceChildren(element('ul', {}, ...links));
  document
    .querySelector('#docs')!
    .replaceChildren(
      element('h1', {}, api.info.title),
      ...blockNodes(api.info.description),
      ...sections,
    );
  document
    .querySelector('#find')!
    .addEventListener('input', ({ currentTarget }) =>
      filterCalls((currentTarget as HTMLInputElement).value),
    );
  document.querySelector('#key')!.addEventListener('input', ({ currentTarget }) => {
    apiKey = (currentTarget as HTMLInputElement).value.trim();
    document.dispatchEvent(new Event('key'));
  });
  addEventListener('hashchange', openNamed);
  openNamed();
}

const current = isOperator ? 'docs?api=operator' : 'docs';
document.querySelector(`header a[href="${current}"]`)?.setAttribute('aria-current', 'page');

// The address is relative, so that the page works under every path form and behind a prefix.
const response = await fetch(isOperator ? 'openapi-operator.json' : 'openapi.json');
if (response.ok) show((await response.json()) as ApiDocument);
else
  document
    .querySelector('#docs')!
    .replaceChildren(`The API document could not be loaded: status ${response.status}.`);
