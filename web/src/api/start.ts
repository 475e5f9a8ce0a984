// Starting runs and studies at most once: a repeated request (double click, lost response) reuses
// its idempotency key.
import type { RerunRequest, Run, RunRequest, Study, StudyDefinition } from './generated/types.gen';
import { ApiProblem, createRun, createStudy, rerunRun } from './index';
import { cacheRun, cacheStudy } from './queries';

/**
 * The idempotency key of one start button. It is reused until the server accepts or rejects the
 * request, or until the body changes. If there was no response, or a server error, the run may
 * already exist.
 */
export class IdempotentRequest {
  private body = '';
  private key = '';

  /** Calls `call` with the `Idempotency-Key` header. */
  async send<Response>(
    body: unknown,
    call: (headers: { 'Idempotency-Key': string }) => Promise<Response>,
  ): Promise<Response> {
    const text = JSON.stringify(body);
    if (this.key === '' || text !== this.body) {
      this.body = text;
      this.key = randomKey();
    }
    try {
      const response = await call({ 'Idempotency-Key': this.key });
      this.key = '';
      return response;
    } catch (error) {
      if (isRejection(error)) this.key = '';
      throw error;
    }
  }
}

/** Works over plain HTTP, where `crypto.randomUUID` is missing. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

const isRejection = (error: unknown) =>
  error instanceof ApiProblem && error.status >= 400 && error.status < 500;

/** Returns the queued run. */
export function startRun(body: RunRequest, request: IdempotentRequest): Promise<Run> {
  return request.send(body, async (headers) =>
    cacheRun((await createRun({ body, headers, throwOnError: true })).data),
  );
}

/** Reruns a run with the options in `body.patch`. Returns the queued run. */
export function startRerun(
  n: number,
  body: RerunRequest,
  request: IdempotentRequest,
): Promise<Run> {
  return request.send([n, body], async (headers) =>
    cacheRun((await rerunRun({ path: { n }, body, headers, throwOnError: true })).data),
  );
}

/** Returns the queued study. */
export function startStudy(body: StudyDefinition, request: IdempotentRequest): Promise<Study> {
  return request.send(body, async (headers) =>
    cacheStudy((await createStudy({ body, headers, throwOnError: true })).data),
  );
}
