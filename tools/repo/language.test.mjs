// Plain language: words from an earlier private vocabulary must not come back, and names in the
// code are the standard terms of its field.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lines, reject, sources } from './sources.mjs';

/**
 * Ordinary English words that were used as private terms. A few ordinary uses are fine; frequent
 * use is not.
 */
const WORDS = `told tells asked mind minds crew witness testimony testify attendance last_words hear_out hang_up kin anew
  meanwhile beneath beside mend mends mended conduct conducted lingers said eyes bell lives patience broken settle settled
  wish thereof whoever somebody nobody liked stroke crossing spoken`.split(/\s+/);
const MAX_PER_10_000 = 3;

/** Identifiers that have a standard name: the pattern, and the name to use. */
const NAMES = [
  [/\bTestimony\b|\btestify\b|\bWitness\b/, 'TargetObserver, Observation, finish'],
  [/\bTeller\b/, 'EventSink'],
  [/\bCrew\b|\battendance\b/i, 'WorkerPool, Barrier'],
  [/\bhear_out\b|\blast_words\b|\bhang_up\b/, 'read_events, stderr_tail, close_subscribers'],
  [/\bLedger\b|\bTally\b/, 'WorkerStats, IoStats, SpaceBudget'],
  [/\bTimetable\b/i, 'ArrivalSchedule'],
  [/\bChooser\b|\bDeck\b|\bCadence\b|\bLane\b/, 'OffsetDistribution, ShuffleBag, SyncInterval, DirectionState'],
  [/\brefusals?\b|\bRefusal\b/, 'problem, Problem'],
  // API problem codes and connection errors may still use the word.
  [
    /(?<![A-Za-z]|(raw_write|drop_caches|io_uring)_|[Cc]onnection.?)refus(e|ed|es|ing)(?![a-z])/i,
    'reject, rejected, rejects',
  ],
  [/\bfixedbufs_said\b|\bfound_by_hand\b|\bwill_tell\b/, 'the names in docs/protocol.md'],
];

const SUFFIXES = [
  ...['.rs', '.ts', '.tsx', '.md', '.sql', '.css', '.mjs', '.toml', '.yml', '.json'],
  ...['.dockerignore', 'Dockerfile', 'Makefile'],
];
const here = import.meta.url;
const isLockFile = (path) => path.endsWith('package-lock.json');
const files = () =>
  sources('.', SUFFIXES).filter(({ path }) => !here.endsWith(path) && !isLockFile(path));

test('no private vocabulary', () => {
  const text = files()
    .map((file) => file.text)
    .join('\n');
  const total = text.match(/[A-Za-z]+/g).length;
  const counts = WORDS.map((word) => {
    const matches = text.match(new RegExp(`(?<![A-Za-z])${word}(?![A-Za-z])`, 'gi'));
    return [word, matches?.length ?? 0];
  });
  const hits = counts.reduce((sum, [, count]) => sum + count, 0);
  const frequent = counts
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([word, count]) => `${word} ${count}`);
  const rate = (hits * 10_000) / total;
  assert.ok(rate <= MAX_PER_10_000, `${rate.toFixed(1)} per 10,000 words: ${frequent.join(', ')}`);
});

test('no private names', () => {
  // A migration, its test and the records in docs/lab may contain the old names.
  const excepted = /^docs\/lab\/|0005_vocabulary\.sql$|upgrade\.rs$/;
  const code = files().filter(({ path }) => !excepted.test(path));
  const offenses = code.flatMap((file) =>
    lines(file).flatMap(({ number, line }) =>
      NAMES.filter(([pattern]) => pattern.test(line)).map(
        ([, better]) => `${file.path}:${number}: ${line.trim()} → ${better}`,
      ),
    ),
  );
  reject(offenses, 'Use the standard name.');
});
