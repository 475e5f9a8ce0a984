// An invisible element over a character in the job text. It positions lists and help next to the
// character.
import type { Ref } from 'react';
import { LINE_HEIGHT, PADDING, type TextPosition } from '../../model/job/text-position';

/**
 * Lists and help are children of the editor's card, where the scrolling text does not cut them off
 * and where they stay within the page's landmarks.
 */
export const POPOVER_PORTAL = { target: '.job-editor' };

interface TextAnchorProps extends TextPosition {
  /** Horizontal scroll position of the text, in pixels. */
  scrollLeft: number;
  ref?: Ref<HTMLSpanElement>;
}

/** An anchor that is one character (`ch`) wide. */
export function TextAnchor({ line, column, scrollLeft, ref }: TextAnchorProps) {
  const style = {
    top: PADDING.top + LINE_HEIGHT * line,
    left: `calc(${PADDING.left - scrollLeft}px + ${column}ch)`,
  };
  return <span ref={ref} className="anchor" style={style} />;
}
