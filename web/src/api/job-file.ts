// A run's fio job file.
import { exportRun } from './index';

export async function fioJobFile(n: number): Promise<string> {
  const { data } = await exportRun({
    path: { n },
    query: { format: 'fio-job' },
    parseAs: 'text',
    throwOnError: true,
  });
  return String(data);
}
