// The API client. Types and calls are generated from the server's OpenAPI document; a failed call
// throws an `ApiProblem`. Cached responses are in `queries`, sockets in `feed` and `run-stream`.
import { client } from './generated/client.gen';
import { ApiProblem, toApiProblem } from './problem';

client.setConfig({ baseUrl: location.origin, throwOnError: true, credentials: 'same-origin' });
client.interceptors.error.use((error, response) => toApiProblem(error, response));

/** Rejects an edit if the run was changed by someone else after it was loaded. */
export const ifMatch = (etag: string | undefined) => (etag ? { 'If-Match': `"${etag}"` } : {});

export * from './generated/sdk.gen';
export type * from './generated/types.gen';
export { ApiProblem };
