// Exports of a comparison; the server writes the files.
import { Button, Menu } from '@mantine/core';
import type { CompareParameters } from '../../model/compare/selection';

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
    <Menu>
      <Menu.Target>
        <Button>Export ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FILES.map(([extension, label]) => (
          <Menu.Item
            key={extension}
            component="a"
            href={`/api/v1/compare/comparison.${extension}?${query}`}
            download={`comparison.${extension}`}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Item component="a" href={`/api/v1/compare?${query}`} target="_blank">
          JSON
        </Menu.Item>
        <Menu.Item onClick={() => window.print()}>Print</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
