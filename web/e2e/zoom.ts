// Zooming of charts, which is loaded at the first interaction with the page.
import type { Page } from '@playwright/test';

/** Moves the pointer, and waits until the charts can be zoomed. */
export async function loadZoom(page: Page) {
  await page.mouse.move(5, 5);
  // Set by the gesture library.
  await page.waitForFunction(
    () => document.querySelector<HTMLElement>('.chart canvas')?.style.touchAction,
  );
}
