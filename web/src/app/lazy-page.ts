// Pages whose code is loaded on the first visit. After a failed load, `fallbacks` reloads the
// document, because a retry within the document would not load the style sheet again (Vite).
import { lazyRouteComponent } from '@tanstack/react-router';

/** A page's code could not be loaded. */
export class PageNotLoaded extends Error {
  override name = 'PageNotLoaded';
}

/** `name`: the exported component. */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  let failure: PageNotLoaded | undefined;
  const loadOnce = async () => {
    if (failure) throw failure;
    try {
      return await load();
    } catch (error) {
      failure = new PageNotLoaded(String(error));
      throw failure;
    }
  };
  return lazyRouteComponent(loadOnce as () => Promise<never>, name as never) as Module[Name] &
    ReturnType<typeof lazyRouteComponent>;
}
