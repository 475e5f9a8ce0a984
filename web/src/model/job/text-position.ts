// Positions in job text: lines and columns in a text area with a monospace font.

/** Browsers' default tab size. */
const TAB_SIZE = 8;

export interface TextPosition {
  /** Zero-based. */
  line: number;
  /** Number of characters to the left. A tab counts as multiple spaces. */
  column: number;
}

/** Line width in characters. */
export const widthOf = (line: string): number =>
  [...line].reduce(
    (column, character) => column + (character === '\t' ? TAB_SIZE - (column % TAB_SIZE) : 1),
    0,
  );

export function positionAt(text: string, offset: number): TextPosition {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length - 1, column: widthOf(lines.at(-1) ?? '') };
}

/** Metrics of the text area in CSS pixels. They must match job-editor.css. */
export const LINE_HEIGHT = 20;
export const PADDING = { top: 9, left: 10 };

/**
 * Returns the line and column at a point, given in pixels from the top left of the scrolled text.
 */
export const positionUnder = (x: number, y: number, characterWidth: number): TextPosition => ({
  line: Math.floor((y - PADDING.top) / LINE_HEIGHT),
  column: Math.floor((x - PADDING.left) / characterWidth),
});
