// Menu of a chart: its scale, save as PNG, copy its data.
import { Button } from '@mantine/core';
import { copyText } from '../ui/clipboard';
import { MenuButton } from '../ui/menu-button';

interface ChartMenuProps {
  title: string;
  isLog: boolean;
  setIsLog: (isLog: boolean) => void;
  image: () => HTMLCanvasElement | null;
  table: () => string;
}

export function ChartMenu({ title, isLog, setIsLog, image, table }: ChartMenuProps) {
  return (
    <MenuButton
      target={
        <Button className="chart-menu no-print" aria-label={`Chart options: ${title}`}>
          ⋯
        </Button>
      }
      entries={[
        {
          type: 'checkbox',
          label: 'Logarithmic scale',
          checked: isLog,
          onChange: () => setIsLog(!isLog),
        },
        { type: 'divider' },
        { type: 'action', label: 'Save as PNG', onSelect: () => savePng(image(), title) },
        { type: 'action', label: 'Copy data', onSelect: () => void copyText('Data', table()) },
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
