// For component tests: a part inside everything it stands in (theme, cache, router), and a server that answers from a table.
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  type RegisteredRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render } from '@testing-library/react';
import type { FunctionComponent } from 'react';
import { vi } from 'vitest';
import { readSearch, writeSearch } from './app/search';
import { theme, variables } from './ui/theme';

/** Shows a page at an address. `path` is the route's, such as `/runs`. */
export function showPage(Page: FunctionComponent, path: string, address = path) {
  const root = createRootRoute();
  const at = (where: string) =>
    createRoute({
      getParentRoute: () => root,
      path: where,
      component: where === path ? Page : () => <Elsewhere where={where} />,
    });
  const routes = [...new Set(['/new', '/runs', '/runs/$n', '/compare', '/devices', path])].map(at);
  const history = createMemoryHistory({ initialEntries: [address] });
  const router = createRouter({
    routeTree: root.addChildren(routes),
    history,
    parseSearch: readSearch,
    stringifySearch: writeSearch,
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const shown = render(
    <MantineProvider theme={theme} cssVariablesResolver={variables} env="test">
      <QueryClientProvider client={client}>
        {/* The router of a test has routes of its own, which are not the registered ones. */}
        <RouterProvider router={router as unknown as RegisteredRouter} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { ...shown, router, client };
}

/** What stands at every other address. */
const Elsewhere = ({ where }: { where: string }) => (
  <main id="content" tabIndex={-1}>
    at {where}
  </main>
);

/** What the server answers, by method and path; a function sees the request's body. */
export type Answers = Record<string, unknown | ((body: unknown) => unknown)>;

/** A thrown answer becomes a problem of this status. */
export class Refuse {
  constructor(
    readonly status: number,
    readonly problem: object,
  ) {}
}

/** Answers calls from a table and remembers them as `POST /api/v1/runs` with their bodies. */
export function serve(answers: Answers) {
  const calls: { call: string; body: unknown }[] = [];
  const answer = async (request: Request) => {
    const url = new URL(request.url, 'http://localhost');
    const call = `${request.method} ${url.pathname}`;
    const text = await request.text();
    const body: unknown = text ? JSON.parse(text) : null;
    calls.push({ call: call + url.search, body });
    const found = answers[call];
    const value = typeof found === 'function' ? (found as (body: unknown) => unknown)(body) : found;
    if (value instanceof Refuse) return Response.json(value.problem, { status: value.status });
    return value === undefined
      ? Response.json({ title: 'Not found', code: 'not_found', detail: call }, { status: 404 })
      : Response.json(value);
  };
  vi.stubGlobal('fetch', (input: Request | string, init?: RequestInit) =>
    answer(
      input instanceof Request ? input : new Request(new URL(input, 'http://localhost'), init),
    ),
  );
  return calls;
}
