// All runs: filtered and sorted by the server, a hundred at a time, drawn where they can be seen. Filter and order stand
// in the address; which columns are shown is remembered by the browser.
import { useLocalStorage } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { RunSort, SortOrder } from '../../api';
import { type RunFilter, runsQuery } from '../../api/queries';
import { count } from '../../model/format/numbers';
import { errorText } from '../../model/format/problem-text';
import { FilterField } from '../../ui/filter-field';
import { LinkButton } from '../../ui/link-button';
import { Empty, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { BulkBar } from './bulk-bar';
import { COLUMNS, DEFAULT_COLUMNS } from './columns';
import { FirstVisit } from './first-visit';
import { ColumnMenu, VerdictMenu } from './filter';
import { RunTable } from './table';
import { useSelection } from './use-selection';
import './history.css';

const route = getRouteApi('/runs');

/** The page. */
export function HistoryPage() {
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
  const [shown, setShown] = useLocalStorage<string[]>({
    key: 'leadline-run-columns',
    defaultValue: [...DEFAULT_COLUMNS],
  });
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
  const isFirstVisit = query.isSuccess && !search.q && total === 0;

  return (
    <Page title="Runs" className="history">
      <div className="row">
        <h1>Runs</h1>
        {query.isSuccess && (
          <span className="mute">{search.q ? `${count(total)} match` : count(total)}</span>
        )}
        <FilterField value={search.q ?? ''} onChange={setFilter} />
        <VerdictMenu value={search.q ?? ''} onChange={setFilter} />
        <ColumnMenu shown={shown} onChange={setShown} />
        <LinkButton to="/new" variant="filled">
          New run
        </LinkButton>
      </div>
      {query.error && (
        <ProblemNotice problem={errorText(query.error)} onRetry={() => void query.refetch()} />
      )}
      {isFirstVisit && <FirstVisit />}
      {query.isSuccess && search.q && total === 0 && (
        <Empty title="No run matches">
          Words are looked for in names, targets, tags and notes; rw: status: tag: host: mode:
          verdict: name: device: look in one of them; a minus before a word leaves it out.
        </Empty>
      )}
      {chosen.length > 0 && <BulkBar runs={chosen} clear={() => select(new Set())} />}
      {total > 0 && (
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
      )}
    </Page>
  );
}
