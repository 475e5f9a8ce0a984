// Menu of a chart: save as PNG, copy its data.
import { Button, Menu } from '@mantine/core';
import { copyText } from '../ui/clipboard';

interface ChartMenuProps {
  title: string;
  image: () => HTMLCanvasElement | null;
  table: () => string;
}

export function ChartMenu({ title, image, table }: ChartMenuProps) {
  return (
    <Menu>
      <Menu.Target>
        <Button className="chart-menu no-print" aria-label={`Export chart: ${title}`}>
          ⋯
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => savePng(image(), title)}>Save as PNG</Menu.Item>
        <Menu.Item onClick={() => void copyText('Data', table())}>Copy data</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function savePng(image: HTMLCanvasElement | null, title: string) {
  if (!image) return;
  const link = document.createElement('a');
  link.href = image.toDataURL('image/png');
  link.download = `${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.png`;
  link.click();
}
