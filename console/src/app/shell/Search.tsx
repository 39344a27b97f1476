import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useResults } from './useResults.tsx';

const [store, spotlight] = createSpotlight();

/** Opens the search. */
export const openSearch = spotlight.open;

/**
 * Search over jobs, users, pages, and the documentation. Mounted when it is opened for the first
 * time.
 */
export function Search() {
  const [isOpen, setOpen] = useState(true);
  const [query, setQuery] = useState('');
  const [term] = useDebouncedValue(query.trim(), 200);
  const results = useResults(query.trim(), term, isOpen);
  useFirstSelected(query);
  return (
    <Spotlight
      store={store}
      actions={results}
      // The results match already; those of the service may match by an address.
      filter={(_query, actions) => actions}
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={() => setOpen(true)}
      onSpotlightClose={() => setOpen(false)}
      nothingFound="No matching jobs, users, pages, or documentation"
      searchProps={{
        placeholder: 'Search jobs, users, pages, and the documentation',
        'aria-label': 'Search',
        leftSection: <IconSearch size={18} aria-hidden />,
      }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      scrollable
      maxHeight={420}
      tagsToIgnore={[]}
    />
  );
}

/**
 * Selects the first result, which Enter opens, whenever the text changes or the selected result
 * disappears.
 */
// The component selects a result before those of the new text are rendered.
function useFirstSelected(query: string): void {
  const shownQuery = useRef<string | null>(null);
  useEffect(() => {
    const first = document.querySelector('[data-action]');
    const selected = document.querySelector('[data-action][data-selected]');
    if (first === null || (selected && shownQuery.current === query)) return;
    shownQuery.current = query;
    selected?.removeAttribute('data-selected');
    first.setAttribute('data-selected', 'true');
    store.updateState((state) => ({ ...state, selected: 0 }));
  });
}
