// Helpers for component tests: rendering with theme, query cache and router, and a fake server that
// returns predefined responses.
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

/** Renders a component at `url`. `path`: the component's route, such as `/runs/$n`. */
export function showPage(Page: FunctionComponent, path: string, url = path) {
  const root = createRootRoute();
  const paths = new Set(['/new', '/runs', '/runs/$n', '/compare', '/devices', path]);
  const routes = [...paths].map((other) =>
    createRoute({
      getParentRoute: () => root,
      path: other,
      component: other === path ? Page : () => <OtherPage path={other} />,
    }),
  );
  const router = createRouter({
    routeTree: root.addChildren(routes),
    history: createMemoryHistory({ initialEntries: [url] }),
    parseSearch: readSearch,
    stringifySearch: writeSearch,
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const rendered = render(
    <MantineProvider theme={theme} cssVariablesResolver={variables} env="test">
      <QueryClientProvider client={client}>
        {/* The routes in a test differ from the registered ones. */}
        <RouterProvider router={router as unknown as RegisteredRouter} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { ...rendered, router, client };
}

const OtherPage = ({ path }: { path: string }) => (
  <main id="content" tabIndex={-1}>
    at {path}
  </main>
);

/**
 * Responses by method and path, such as `GET /api/v1/runs`. If a response is a function, it is
 * called with the request body.
 */
export type Responses = Record<string, unknown | ((body: unknown) => unknown)>;

/** A response with an error status. */
export class ErrorResponse {
  constructor(
    readonly status: number,
    readonly problem: object,
  ) {}
}

/** Replaces `fetch`. Returns the calls so far, including query strings and bodies. */
export function serve(responses: Responses) {
  const calls: { call: string; body: unknown }[] = [];
  const respond = async (request: Request) => {
    const url = new URL(request.url, 'http://localhost');
    const call = `${request.method} ${url.pathname}`;
    const text = await request.text();
    const body: unknown = text ? JSON.parse(text) : null;
    calls.push({ call: call + url.search, body });
    const response = responses[call];
    const value = typeof response === 'function' ? response(body) : response;
    if (value instanceof ErrorResponse)
      return Response.json(value.problem, { status: value.status });
    return value === undefined
      ? Response.json({ title: 'Not found', code: 'not_found', detail: call }, { status: 404 })
      : Response.json(value);
  };
  vi.stubGlobal('fetch', (input: Request | string, init?: RequestInit) =>
    respond(
      input instanceof Request ? input : new Request(new URL(input, 'http://localhost'), init),
    ),
  );
  return calls;
}
