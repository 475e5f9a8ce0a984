// History: all runs, filtered, sorted and paged by the server. The URL contains the filter, the
// sort order and, for a saved view, the columns. Otherwise, the columns are in the browser's local
// storage.
import { Button } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useMemo } from 'react';
import type { RunSort, SortOrder } from '../../api';
import { ApiProblem } from '../../api/problem';
import { type RunFilter, runsQuery } from '../../api/queries';
import { count } from '../../model/format/numbers';
import { FilterField } from '../../ui/filter-field';
import { LinkButton } from '../../ui/link-button';
import { Empty, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { BulkBar } from './bulk-bar';
import { COLUMNS, DEFAULT_COLUMNS, MEDIUM_COLUMNS, NARROW_COLUMNS } from './columns';
import { ColumnMenu, VerdictMenu } from './filter';
import { FirstVisit } from './first-visit';
import { ImportResultButton } from './import-result';
import { useSelection } from './use-selection';
import { ViewMenu } from './views';
import './runs.css';

// Loaded on demand: an empty list does not need it.
const RunTable = lazy(() => import('./table'));
const route = getRouteApi('/runs');

export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter: RunFilter = {
    q: search.q,
    sort: search.sort as RunSort | undefined,
    order: search.order as SortOrder | undefined,
  };
  const query = useInfiniteQuery(runsQuery(filter));
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.runs) ?? [], [query.data]);
  const total = query.data?.pages[0]?.total ?? 0;
  const setColumnsInUrl = useCallback(
    (keys: readonly string[]) =>
      void navigate({ search: (old) => ({ ...old, columns: keys.join(',') }), replace: true }),
    [navigate],
  );
  const [shown, setShown] = useShownColumns(search.columns, setColumnsInUrl);
  const { selected, chosen, select } = useSelection(search.q, runs);
  const columns = useMemo(() => COLUMNS.filter(({ key }) => shown.includes(key)), [shown]);
  const setFilter = useCallback(
    (q: string) =>
      void navigate({ search: (old) => ({ ...old, q: q || undefined }), replace: true }),
    [navigate],
  );
  const sortBy = useCallback(
    (sort: RunSort) =>
      void navigate({
        search: (old) => ({
          ...old,
          sort,
          order: old.sort === sort && old.order !== 'asc' ? 'asc' : 'desc',
        }),
        replace: true,
      }),
    [navigate],
  );
  const found = `${count(total)} ${total === 1 ? 'match' : 'matches'}`;
  const isFirstVisit = query.isSuccess && !search.q && total === 0;

  return (
    <Page title="Runs" className="history">
      <div className="row">
        <h1>Runs</h1>
        {query.isSuccess && <span className="mute">{search.q ? found : count(total)}</span>}
        <FilterField value={search.q ?? ''} onChange={setFilter} />
        <VerdictMenu value={search.q ?? ''} onChange={setFilter} />
        <ColumnMenu value={shown} onChange={setShown} />
        <ViewMenu search={{ ...search, columns: shown.join(',') }} />
        <ImportResultButton />
        <LinkButton to="/new" variant={isFirstVisit || chosen.length > 0 ? 'default' : 'filled'}>
          New run
        </LinkButton>
      </div>
      {isRejected(query.error) && search.q ? (
        <ProblemNotice error={query.error} retry={() => setFilter('')} label="Clear filter" />
      ) : (
        <ProblemNotice error={query.error} retry={query.refetch} />
      )}
      {isFirstVisit && <FirstVisit />}
      {query.isSuccess && search.q && total === 0 && (
        <Empty
          title="No matching runs"
          actions={<Button onClick={() => setFilter('')}>Clear filter</Button>}
        >
          Search covers names, targets, tags and notes. Use #12 for a run number, rw:, bs:,
          iodepth:, numjobs:, status:, verdict:, mode:, target:, device:, host:, source:, tag:,
          study:, step: or name: to search one field, and a leading minus to exclude a term.
        </Empty>
      )}
      {chosen.length > 0 && <BulkBar runs={chosen} clear={() => select(new Set())} />}
      {total > 0 && !query.isError && (
        <Suspense>
          <RunTable
            runs={runs}
            total={total}
            columns={columns}
            sort={filter.sort ?? 'number'}
            order={filter.order ?? 'desc'}
            onSort={sortBy}
            selected={selected}
            onSelect={select}
            onEnd={() => query.hasNextPage && !query.isFetching && void query.fetchNextPage()}
          />
        </Suspense>
      )}
    </Page>
  );
}

/** Returns true for an invalid request, such as one with an unknown filter key. */
const isRejected = (error: unknown) =>
  error instanceof ApiProblem && (error.status === 400 || error.status === 422);

/**
 * Keys of the visible columns, from the URL if it lists columns, or from the browser's storage.
 * Changes are saved in the browser's storage, and in the URL if it lists columns.
 */
function useShownColumns(
  inUrl: string | undefined,
  setInUrl: (keys: readonly string[]) => void,
): [string[], (keys: string[]) => void] {
  const isMedium = useMediaQuery('(max-width: 1150px)', false, { getInitialValueInEffect: false });
  const [wide, setWide] = useLocalStorage<string[]>({
    key: 'leadline-run-columns',
    defaultValue: [...(isMedium ? MEDIUM_COLUMNS : DEFAULT_COLUMNS)],
  });
  const [narrow, setNarrow] = useLocalStorage<string[]>({
    key: 'leadline-run-columns-narrow',
    defaultValue: [...NARROW_COLUMNS],
  });
  const isNarrow = useMediaQuery('(max-width: 600px)');
  const [chosen, choose] = isNarrow ? [narrow, setNarrow] : [wide, setWide];
  if (!inUrl) return [chosen, choose];
  const choosePermanently = (keys: string[]) => {
    choose(keys);
    setInUrl(keys);
  };
  return [inUrl.split(','), choosePermanently];
}
