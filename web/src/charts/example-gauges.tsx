// Two depth gauges with example counts: the same reads, served once by the disk and once by memory.
import type { Gauge } from '../api';
import { DepthGauge } from './gauge';

const flow = (ios: number) => ({ ios, bytes: ios * 4096 });

const DIRECT: Gauge = {
  issued: flow(330_000),
  past_cache: flow(330_000),
  reached: flow(330_000),
  bypassed: true,
  served_by: 'device',
  uncertainty: 0,
  notes: { page_cache: 'bypassed' },
};

const BUFFERED: Gauge = {
  issued: flow(8_200_000),
  past_cache: flow(0),
  reached: flow(0),
  bypassed: false,
  served_by: 'page_cache',
  uncertainty: 0,
  notes: { page_cache: 'served from memory' },
};

const EXAMPLES = [
  { gauge: DIRECT, text: 'Direct I/O: every read reached the disk.' },
  { gauge: BUFFERED, text: 'Buffered I/O: faster, but no read reached the disk.' },
];

export default function ExampleGauges() {
  return EXAMPLES.map(({ gauge, text }) => (
    <figure key={text}>
      <DepthGauge gauge={gauge} description={text} />
      <figcaption>{text}</figcaption>
    </figure>
  ));
}
