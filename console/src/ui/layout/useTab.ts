import { useSearchParams } from 'react-router';

/**
 * Returns the selected tab, kept in the address as `?tab=`, and a function that selects another. An
 * address without a known tab selects `initial`.
 */
export function useTab<Tab extends string>(
  tabs: readonly Tab[],
  initial: Tab,
): [tab: Tab, select: (tab: string | null) => void] {
  const [parameters, setParameters] = useSearchParams();
  const selected = tabs.find((tab) => tab === parameters.get('tab')) ?? initial;
  const select = (tab: string | null) =>
    setParameters(
      (current) => {
        if (tab === null) current.delete('tab');
        else current.set('tab', tab);
        return current;
      },
      { replace: true, preventScrollReset: true },
    );
  return [selected, select];
}
