// Chart menu: change the scale, save as PNG, copy the data.
import { Button } from '@mantine/core';
import { copyText } from '../ui/clipboard';
import { MenuButton } from '../ui/menu-button';
import type { MenuEntry } from '../ui/menu-entry';

interface ChartMenuProps {
  title: string;
  /** Undefined if the scale is fixed. */
  scale?: { isLog: boolean; setIsLog: (isLog: boolean) => void };
  image: () => HTMLCanvasElement | null;
  /** Undefined if an adjacent table already contains the data. */
  table?: () => string;
}

export function ChartMenu({ title, scale, image, table }: ChartMenuProps) {
  const scaleEntries: MenuEntry[] = scale
    ? [
        {
          type: 'checkbox',
          label: 'Logarithmic scale',
          checked: scale.isLog,
          onChange: () => scale.setIsLog(!scale.isLog),
        },
        { type: 'divider' },
      ]
    : [];
  const tableEntries: MenuEntry[] = table
    ? [{ type: 'action', label: 'Copy data', onSelect: () => void copyText('Data', table()) }]
    : [];
  return (
    <MenuButton
      target={
        <Button className="chart-menu no-print" aria-label={`Chart options: ${title}`}>
          ⋯
        </Button>
      }
      entries={[
        ...scaleEntries,
        { type: 'action', label: 'Save as PNG', onSelect: () => savePng(image(), title) },
        ...tableEntries,
      ]}
    />
  );
}

function savePng(image: HTMLCanvasElement | null, title: string) {
  if (!image) return;
  const link = document.createElement('a');
  link.href = image.toDataURL('image/png');
  link.download = `${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.png`;
  link.click();
}
