// Accessibility checks. axe is injected once per document: @axe-core/playwright injects it before
// every analysis, which takes longer than checking the rules.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type { AxeResults, RunOptions } from 'axe-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Scope {
  /** IDs of the rules to check; by default, all rules. */
  rules?: readonly string[];
  /** Selector for the part to check; by default, the page. */
  part?: string;
}

/** Runs in the page. Colors in the middle of a transition can have too little contrast. */
async function waitForTransitions() {
  // A changed color scheme is applied in the next frame.
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const ending = document
    .getAnimations()
    .filter(({ playState }) => playState === 'running')
    .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
  await Promise.allSettled(ending.map(({ finished }) => finished));
}

/** Violations as text, in the form `rule: element | element`. */
export async function findViolations(page: Page, { rules, part }: Scope = {}): Promise<string[]> {
  const isInjected = await page.evaluate(() => 'axe' in window);
  // `evaluate` is not subject to the page's content security policy.
  if (!isInjected) await page.evaluate(SOURCE);
  await page.evaluate(waitForTransitions);
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules && { runOnly: [...rules] }),
  };
  const violations = await page.evaluate(
    async ([part, options]) => {
      const { axe } = window as unknown as {
        axe: { run: (context: unknown, options: RunOptions) => Promise<AxeResults> };
      };
      return (await axe.run(part ?? document, options)).violations;
    },
    [part, options] as const,
  );
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
  );
}

/** All rules are checked in the first layout, and layout-dependent rules in the others. */
const LAYOUTS = (['dark', 'light'] as const).flatMap((theme) =>
  [1440, 1024, 390].map((width) => ({ theme, width })),
);
const LAYOUT_RULES = ['color-contrast', 'scrollable-region-focusable', 'target-size'];
const LAYOUT_ATTRIBUTE = 'data-mantine-color-scheme';

/** Pixels that the page is wider than the window. Charts are resized after the page. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Checks the page, or a part of it, in both themes and at three widths. */
export async function checkLayouts(page: Page, name: string, part?: string) {
  for (const [index, { width, theme }] of LAYOUTS.entries()) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute(LAYOUT_ATTRIBUTE, theme);
    // Move the pointer away from menus, whose buttons may now be off screen. A toast stays open
    // while the pointer is over it.
    const toast = page.locator('.mantine-Notification-root').first();
    if (await toast.isVisible()) await toast.hover();
    const rules = index === 0 ? undefined : LAYOUT_RULES;
    const layout = `${name}, ${width} px, ${theme}`;
    expect.soft(await findViolations(page, { rules, part }), layout).toEqual([]);
    expect.soft(await overflow(page), `horizontal scrolling: ${layout}`).toBeLessThanOrEqual(0);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}
