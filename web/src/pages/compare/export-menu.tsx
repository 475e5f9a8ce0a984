// Comparison exports. The server generates the files.
import { Button } from '@mantine/core';
import type { CompareParameters } from '../../model/compare/selection';
import { MenuButton } from '../../ui/menu-button';

const FILES = [
  ['html', 'HTML report (opens offline)'],
  ['csv', 'CSV (one row per metric and group)'],
  ['md', 'Markdown'],
] as const;

export function ExportMenu({ parameters }: { parameters: CompareParameters }) {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [name, String(value)]),
  );
  return (
    <MenuButton
      target={<Button>Export ▾</Button>}
      entries={[
        ...FILES.map(([extension, label]) => ({
          type: 'file' as const,
          label,
          href: `/api/v1/compare/comparison.${extension}?${query}`,
          download: `comparison.${extension}`,
        })),
        { type: 'file', label: 'JSON', href: `/api/v1/compare?${query}` },
        { type: 'action', label: 'Print', onSelect: () => window.print() },
      ]}
    />
  );
}
