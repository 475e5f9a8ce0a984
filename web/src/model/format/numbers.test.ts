import { describe, expect, it } from 'vitest';
import { bytes, count, digits, fioRate, latency, rate, share, shortCount, text } from './numbers';

const plain = (s: string) => s.replaceAll('\u00a0', ' ');
const check = <T>(name: string, format: (n: T) => string, cases: [T, string][]) =>
  describe(name, () => {
    it.each(cases)('%s is %s', (input, expected) => expect(plain(format(input))).toBe(expected));
  });

check<number>('digits', digits, [
  [0, '0'],
  [7, '7'],
  [1.214, '1.21'],
  [87.94, '87.9'],
  [99.96, '100'],
  [3172.4, '3,172'],
  [-0.5, '-0.50'],
]);
check<number | null | undefined>('short counts', (n) => text(shortCount(n)), [
  [0, '0'],
  [42.4, '42'],
  [999.4, '999'],
  [999.9, '1 k'],
  [87_912, '87.9 k'],
  [812_345, '812 k'],
  [1_234_567, '1.23 M'],
  [null, '–'],
  [undefined, '–'],
  [Number.NaN, '–'],
]);
check<number | null>('counts', count, [
  [1_634_210, '1,634,210'],
  [null, '–'],
]);
check<number>('bytes', (n) => text(bytes(n)), [
  [0, '0 B'],
  [512, '512 B'],
  [4096, '4 KiB'],
  [1_572_864, '1.50 MiB'],
  [2 ** 30, '1 GiB'],
]);
check<number>('rates', (n) => text(rate(n)), [[359_661_568, '343 MiB/s']]);
check<number | null>('fio rates', fioRate, [
  [359_661_568, '343 MiB/s (360 MB/s)'],
  [null, '–'],
]);
check<number>('latencies', (n) => text(latency(n)), [
  [850, '850 ns'],
  [999.7, '1.00 µs'],
  [1300, '1.30 µs'],
  [362_000, '362 µs'],
  [1_212_000, '1.21 ms'],
  [2_900_000_000, '2.90 s'],
]);
check<number>('shares', share, [
  [0, '0 %'],
  [0.0004, '<0.1 %'],
  [0.016, '1.60 %'],
  [0.44, '44 %'],
  [0.996, '99.6 %'],
  [0.99999, '99.99 %'],
  [1, '100 %'],
  [2.19, '219 %'],
]);
