import { useSearchParams } from 'react-router';

/**
 * Returns the filter of a list, which the address keeps, and a function that replaces it. `empty` matches
 * all; an empty text is no filter.
 */
export function useAddressFilter<Filter extends object>(
  empty: Filter,
): [filter: Filter, change: (filter: Filter) => void] {
  const [parameters, setParameters] = useSearchParams();
  const filter = Object.fromEntries(Object.keys(empty).map((name) => [name, parameters.get(name) ?? '']));
  const change = (next: Filter) =>
    setParameters(Object.fromEntries(Object.entries(next).filter(([, value]) => value !== '')), {
      replace: true,
    });
  return [filter as Filter, change];
}
