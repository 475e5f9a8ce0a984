// Help for the option under the pointer, shown above its line.
import { Popover } from '@mantine/core';
import { useDebouncedCallback, useWindowEvent } from '@mantine/hooks';
import { type PointerEvent, useRef, useState } from 'react';
import type { OptionDoc } from '../../api';
import { optionOfLine } from '../../model/job/completion';
import { positionUnder, widthOf } from '../../model/job/text-position';
import { OptionHelp } from './option-help';
import { POPOVER_PORTAL, TextAnchor } from './text-anchor';

const DELAY_MS = 300;

/** The line over which the pointer rests. */
export function useHoveredLine(text: string) {
  const anchor = useRef<HTMLSpanElement>(null);
  const [line, setLine] = useState<number | null>(null);
  const showLater = useDebouncedCallback(setLine, DELAY_MS);
  const hide = () => {
    showLater.cancel();
    setLine(null);
  };
  useWindowEvent('keydown', hide);
  const handlers = {
    onPointerMove: ({ pointerType, nativeEvent, currentTarget }: PointerEvent<HTMLElement>) => {
      if (pointerType !== 'mouse' || !anchor.current) return;
      const { offsetX, offsetY } = nativeEvent;
      const { width } = anchor.current.getBoundingClientRect();
      const under = positionUnder(offsetX + currentTarget.scrollLeft, offsetY, width);
      const isOnText = under.column < widthOf(text.split('\n')[under.line] ?? '');
      showLater(isOnText ? under.line : null);
    },
    onPointerLeave: () => showLater(null),
  };
  return { anchor, line, handlers, hide, keep: showLater.cancel };
}

interface HoverHelpProps {
  hovered: ReturnType<typeof useHoveredLine>;
  text: string;
  options: readonly OptionDoc[];
  scrollLeft: number;
}

export function HoverHelp({ hovered, text, options, scrollLeft }: HoverHelpProps) {
  const { anchor, line, hide, keep, handlers } = hovered;
  const content = line === null ? '' : (text.split('\n')[line] ?? '');
  const doc = optionOfLine(content, options);
  const column = widthOf(/^\s*/.exec(content)?.[0] ?? '');
  return (
    <Popover
      opened={doc !== null}
      onChange={(isOpen) => isOpen || hide()}
      width="min(360px, calc(100vw - 24px))"
      position="top-start"
      withRoles={false}
      portalProps={POPOVER_PORTAL}
      returnFocus={false}
    >
      <Popover.Target>
        <TextAnchor ref={anchor} line={line ?? 0} column={column} scrollLeft={scrollLeft} />
      </Popover.Target>
      <Popover.Dropdown
        className="hover-help"
        role="tooltip"
        onPointerEnter={keep}
        onPointerLeave={handlers.onPointerLeave}
      >
        {doc && <OptionHelp doc={doc} />}
      </Popover.Dropdown>
    </Popover>
  );
}
