// The way to the server: types and calls are generated from its OpenAPI document, and nothing of them is written by
// hand. Every call throws an `ApiProblem` when it fails. Not here: what is kept of the answers (`queries`), and the
// sockets (`feed`, `run-stream`).
import { client } from './generated/client.gen';
import { ApiProblem, readProblem } from './problem';

client.setConfig({ baseUrl: location.origin, throwOnError: true, credentials: 'same-origin' });
client.interceptors.error.use((error, response) => readProblem(error, response));

export * from './generated/sdk.gen';
export type * from './generated/types.gen';
export { ApiProblem };
