// Starting a run, at most once: each wish to start carries a key of its own, so that a repeated call (a double click, a
// lost answer) meets the run that it already started.
import type { RerunRequest, Run, RunRequest, Study, StudyDocument } from './generated/types.gen';
import { createRun, createStudy, rerunRun } from './index';
import { keepRun, keepStudy } from './queries';

/** A fresh key for one wish to start; also over plain http, where `crypto.randomUUID` is missing. */
export function startKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Starts a run and returns it as queued. It is kept, so that its page need not ask for it. */
export async function startRun(request: RunRequest, key: string): Promise<Run> {
  const { data } = await createRun({ body: request, headers: { 'Idempotency-Key': key }, throwOnError: true });
  return keepRun(data);
}

/** Starts the jobs of a run again, with options changed where `body.patch` says so. */
export async function startAgain(run: number, body: RerunRequest, key: string): Promise<Run> {
  const { data } = await rerunRun({ path: { n: run }, body, headers: { 'Idempotency-Key': key }, throwOnError: true });
  return keepRun(data);
}

/** Starts a study and returns it as queued. */
export async function startStudy(document: StudyDocument, key: string): Promise<Study> {
  const { data } = await createStudy({ body: document, headers: { 'Idempotency-Key': key }, throwOnError: true });
  return keepStudy(data);
}
