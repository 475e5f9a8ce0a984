// Starting a run, at most once: each wish to start carries a key of its own, so that a repeated call (a double click, a
// lost answer) meets the run that it already started.
import type { Run, RunRequest } from './generated/types.gen';
import { createRun } from './index';

/** A fresh key for one wish to start; also over plain http, where `crypto.randomUUID` is missing. */
export function startKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Starts a run and returns it as queued. */
export async function startRun(request: RunRequest, key: string): Promise<Run> {
  const { data } = await createRun({ body: request, headers: { 'Idempotency-Key': key }, throwOnError: true });
  return data;
}
