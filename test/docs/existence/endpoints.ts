import { openApiDocument, operationsOf } from '../../../deploy/openapi-document.ts';
import { matchesIn, type NameCheck } from './name-check.ts';
import { codeOf, type Page } from './page.ts';

const methodAndPath = /\b((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[^\s"'`|)]+)/g;
const pathAlone = /(?:^|\$URL|:8080)(\/v1\/[^\s"'`|)]+)/g;

/** Creates the check of REST paths, with or without a method, against the OpenAPI document. */
export async function createEndpointCheck(): Promise<NameCheck> {
  const endpoints = [...operationsOf(await openApiDocument())].map(({ verb, path }) => ({
    verb,
    segments: path.split('/'),
  }));
  return {
    kind: 'endpoint',
    find: findEndpoints,
    exists: (name) => {
      const [path, verb] = name.split(' ').toReversed() as [string, string?];
      const segments = path
        .replace(/[?#].*$/, '')
        .replace(/\/$/, '')
        .split('/');
      return endpoints.some(
        (endpoint) =>
          (verb === undefined || verb === endpoint.verb) &&
          isPathOf(endpoint.segments, segments, verb !== undefined),
      );
    },
  };
}

function findEndpoints(page: Page): string[] {
  return codeOf(page).flatMap((code) => [
    ...matchesIn(code, methodAndPath),
    ...matchesIn(code, pathAlone),
  ]);
}

/** Returns true for a placeholder or a variable of the shell. */
const isPlaceholder = (segment: string) => /^[<{$…]/.test(segment);

/** Returns true if a path is one of a template. A path alone may be the beginning of one. */
function isPathOf(
  template: readonly string[],
  path: readonly string[],
  isComplete: boolean,
): boolean {
  if (isComplete ? path.length !== template.length : path.length > template.length) return false;
  return path.every((segment, index) => {
    const declared = template[index]!;
    return segment === declared || declared.startsWith('{') || isPlaceholder(segment);
  });
}
