// Saved run list views: each is a name for a filter, a sort order and columns, as in the
// URL.

const KEYS = ['q', 'sort', 'order', 'columns'] as const;

/** `columns`: keys of the visible columns, separated by commas. */
export type ViewSearch = { [key in (typeof KEYS)[number]]?: string };

export interface View {
  name: string;
  search: ViewSearch;
}

/** Longer names would not fit in a menu. */
export const MAX_VIEW_NAME = 60;

const isText = (value: unknown) => typeof value === 'string' || value === undefined;

const isView = (value: unknown): value is View => {
  const { name, search } = (value ?? {}) as Partial<View>;
  return (
    typeof name === 'string' &&
    name !== '' &&
    typeof search === 'object' &&
    search !== null &&
    KEYS.every((key) => isText(search[key]))
  );
};

/** Omits invalid entries, which may come from another version. */
export const validViews = (stored: unknown): View[] =>
  Array.isArray(stored) ? stored.filter(isView) : [];

/** Adds a view in alphabetical order. Replaces a view with the same name. */
export const addView = (views: readonly View[], view: View): View[] =>
  [...removeView(views, view.name), view].toSorted((a, b) => a.name.localeCompare(b.name));

export const removeView = (views: readonly View[], name: string): View[] =>
  views.filter((view) => view.name !== name);

/** Returns the view that shows the same runs and columns in the same order. */
export const findView = (views: readonly View[], search: ViewSearch): View | undefined =>
  views.find((view) => KEYS.every((key) => (view.search[key] ?? '') === (search[key] ?? '')));
