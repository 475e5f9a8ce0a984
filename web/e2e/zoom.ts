// Helpers for zooming charts. The zoom code is loaded on the first interaction with the page. On
// touch screens, it is loaded together with the charts.
import type { Page } from '@playwright/test';

/** Waits until charts can be zoomed. */
export async function waitForZoom(page: Page) {
  // The gesture library sets this style.
  await page.waitForFunction(
    () => document.querySelector<HTMLElement>('.chart canvas')?.style.touchAction,
  );
}

/** Moves the pointer, and waits until the charts can be zoomed. */
export async function loadZoom(page: Page) {
  await page.mouse.move(5, 5);
  await waitForZoom(page);
}
