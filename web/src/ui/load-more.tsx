// Button below a list that loads the list's next page.
import { Button } from '@mantine/core';

interface LoadMoreProps {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** `query`: an infinite query. Renders nothing after the last page. */
export function LoadMore({ query }: { query: LoadMoreProps }) {
  if (!query.hasNextPage) return null;
  return (
    <Button mt={8} loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      Load more
    </Button>
  );
}
