// Starting a run, at most once: a wish to start has a key of its own, so that a repeated call (a double click, a lost
// answer) meets the run that it already started.
import type { RerunRequest, Run, RunRequest, Study, StudyDocument } from './generated/types.gen';
import { ApiProblem, createRun, createStudy, rerunRun } from './index';
import { cacheRun, cacheStudy } from './queries';

/**
 * What somebody wants started, for as long as the button is there. It has one key until the server says that it started
 * it or refuses to, or until something else is wanted: only where no answer came may the same have been started already.
 */
export class StartRequest {
  private request = '';
  private key = '';

  /** Asks with `call`, which sends the headers along. */
  async ask<Answer>(
    request: unknown,
    call: (headers: { 'Idempotency-Key': string }) => Promise<Answer>,
  ): Promise<Answer> {
    const wanted = JSON.stringify(request);
    if (this.key === '' || wanted !== this.request)
      Object.assign(this, { request: wanted, key: freshKey() });
    try {
      const answer = await call({ 'Idempotency-Key': this.key });
      this.key = '';
      return answer;
    } catch (error) {
      if (isRefusal(error)) this.key = '';
      throw error;
    }
  }
}

/** Random, also over plain http, where `crypto.randomUUID` is missing. */
function freshKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

/** A failure of the server says as little about what was started as no answer. */
const isRefusal = (error: unknown) =>
  error instanceof ApiProblem && error.status >= 400 && error.status < 500;

/** Starts a run and returns it as queued. It is kept, so that its page need not ask for it. */
export function startRun(body: RunRequest, wish: StartRequest): Promise<Run> {
  return wish.ask(body, async (headers) =>
    cacheRun((await createRun({ body, headers, throwOnError: true })).data),
  );
}

/** Starts the jobs of a run again, with options changed where `body.patch` says so. */
export function startAgain(n: number, body: RerunRequest, wish: StartRequest): Promise<Run> {
  return wish.ask([n, body], async (headers) =>
    cacheRun((await rerunRun({ path: { n }, body, headers, throwOnError: true })).data),
  );
}

/** Starts a study and returns it as queued. */
export function startStudy(body: StudyDocument, wish: StartRequest): Promise<Study> {
  return wish.ask(body, async (headers) =>
    cacheStudy((await createStudy({ body, headers, throwOnError: true })).data),
  );
}
