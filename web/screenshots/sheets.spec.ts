// Contact sheets with the screenshots in each layout. Tall screenshots are split into columns to
// keep their text readable.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '@playwright/test';
import { IMAGES, SHEETS } from './directory';

/** A sheet is wide enough for two wide screenshots side by side. */
const SHEET_HEIGHT = 1400;
const sheetWidth = (widest: number) => Math.max(1600, 2 * widest + GAP);
const LABEL_HEIGHT = 24;
const GAP = 8;

interface Slice {
  name: string;
  top: number;
  width: number;
  height: number;
}

/** Width and height are in the PNG header. */
function sizeOf(file: string) {
  const header = readFileSync(join(IMAGES, file));
  return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) };
}

function splitIntoSlices(name: string): Slice[] {
  const { width, height } = sizeOf(name);
  const most = SHEET_HEIGHT - LABEL_HEIGHT;
  const count = Math.ceil(height / most);
  return Array.from({ length: count }, (_, index) => {
    const top = index * most;
    return { name, top, width, height: Math.min(most, height - top) };
  });
}

/** Fills rows from left to right, and sheets from top to bottom. */
function arrange(slices: readonly Slice[], sheet: number): (Slice & { x: number; y: number })[][] {
  const sheets: (Slice & { x: number; y: number })[][] = [[]];
  let x = 0;
  let y = 0;
  let row = 0;
  for (const slice of slices) {
    const height = slice.height + LABEL_HEIGHT;
    if (x + slice.width > sheet) [x, y, row] = [0, y + row + GAP, 0];
    if (y + height > SHEET_HEIGHT && sheets.at(-1)?.length) {
      sheets.push([]);
      [x, y, row] = [0, 0, 0];
    }
    sheets.at(-1)?.push({ ...slice, x, y });
    x += slice.width + GAP;
    row = Math.max(row, height);
  }
  return sheets;
}

const html = (slice: Slice & { x: number; y: number }) => {
  const data = readFileSync(join(IMAGES, slice.name)).toString('base64');
  const place = `left:${slice.x}px;top:${slice.y}px;width:${slice.width}px`;
  const part = `height:${slice.height}px;background:url(data:image/png;base64,${data}) 0 -${slice.top}px`;
  return `<div style="position:absolute;${place}">
    <div style="height:${LABEL_HEIGHT}px;font:14px monospace">${slice.name}</div>
    <div style="${part}"></div></div>`;
};

const LAYOUTS = ['1440-dark', '1440-light', '1024-dark', '1024-light', '390-dark', '390-light'];

for (const layout of LAYOUTS)
  test(layout, async ({ page }) => {
    mkdirSync(SHEETS, { recursive: true });
    const names = readdirSync(IMAGES).filter((name) => name.endsWith(`-${layout}.png`));
    const slices = names.sort().flatMap(splitIntoSlices);
    const width = sheetWidth(Math.max(0, ...slices.map((slice) => slice.width)));
    const sheets = arrange(slices, width);
    await page.setViewportSize({ width, height: SHEET_HEIGHT });
    for (const [index, slices] of sheets.entries()) {
      const body = slices.map(html).join('');
      await page.setContent(`<body style="margin:0;background:#888">${body}</body>`);
      const path = join(SHEETS, `${layout}-${String(index + 1).padStart(3, '0')}.png`);
      await page.screenshot({ path });
    }
  });
